/* What each thread does hangs on its number, which is an address. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int counter;

static void *work(void *argument) {
    uintptr_t bits = (uintptr_t)pthread_self() >> 12;
    for (unsigned i = 0; i < 24; i++) {
        pthread_mutex_t *mutex = &mutexes[bits >> i & 1];
        pthread_mutex_lock(mutex);
        int seen = counter;
        pthread_mutex_unlock(mutex);
        pthread_mutex_lock(mutex);
        counter = seen + 1;
        pthread_mutex_unlock(mutex);
    }
    return argument;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    assert(counter == 48);
    return 0;
}
