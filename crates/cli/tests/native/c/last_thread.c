/* Main leaves by pthread_exit; the process ends with its last thread, after the handlers for that. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static __thread int mine;
static pthread_key_t key;
static int destroyed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void destroy(void *value) {
    pthread_mutex_lock(&mutex);
    destroyed += *(int *)value;
    pthread_mutex_unlock(&mutex);
    free(value);
}

static void done(void) { _Exit(destroyed == 3 ? 0 : 5); }

static void *work(void *argument) {
    int *value = malloc(sizeof *value);
    mine = *value = (int)(long)argument;
    pthread_setspecific(key, value);
    if (mine != *value) abort();
    if (mine == 2) pthread_exit(NULL);
    return NULL;
}

int main(void) {
    pthread_t thread;
    atexit(done);
    pthread_key_create(&key, destroy);
    for (long i = 1; i <= 2; i++) {
        pthread_create(&thread, NULL, work, (void *)i);
        pthread_detach(thread);
    }
    pthread_exit(NULL);
}
