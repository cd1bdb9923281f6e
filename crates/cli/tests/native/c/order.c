/* Exits with 0 if the first thread is the first to take the lock, else with 1. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long first;

static void *work(void *me) {
    pthread_mutex_lock(&mutex);
    if (!first) first = (long)me;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return first != 1;
}
