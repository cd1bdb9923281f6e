/* Two threads, and what is wrong if the second is first. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *come(void *number) {
    pthread_mutex_lock(&mutex);
    if (!first) first = (int)(long)number;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void race(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, come, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void judge(void) {
    if (first == 2) abort();
}
