/* What it does depends on where it was loaded: no plan can repeat that. Nearly any two places differ. */
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *work(void *argument) {
    uintptr_t bits = (uintptr_t)&mutexes >> 12;
    for (unsigned i = 0; i < 24; i++) {
        pthread_mutex_t *mutex = &mutexes[bits >> i & 1];
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return argument;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
