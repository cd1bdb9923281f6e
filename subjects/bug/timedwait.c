/* A time-out is taken for a success. */
#include "pair.h"
#include <assert.h>
#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int answer;

static void *ask(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_mutex_lock(&lock);
    int result = 0;
    while (!answer && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&change, &lock, &until);
#ifdef FIXED
    assert(answer == 42 || result == ETIMEDOUT);
#else
    assert(answer == 42); // !assertion
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *reply(void *unused) {
    pthread_mutex_lock(&lock);
    answer = 42;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pair(ask, reply);
    return 0;
}
