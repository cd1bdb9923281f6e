/* The waiter looks at the flag before it takes the lock: the wake-up may come between. */
#include "pair.h"
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *wait_for_it(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
#else
    if (!ready) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&change, &lock); // !deadlock
        pthread_mutex_unlock(&lock);
    }
#endif
    return unused;
}

static void *tell(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pair(wait_for_it, tell);
    return 0;
}
