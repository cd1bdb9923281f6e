/* Two threads add to a plain variable; a mutex guards the other one. Prints where things lie. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int plain, guarded;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    plain++;
    pthread_mutex_lock(&mutex);
    guarded++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    void *block = malloc(16);
    printf("%p %p %p\n", (void *)threads, block, (void *)work);
    fflush(stdout);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert((long)result == i);
    }
    assert(guarded == 2);
    assert(plain == 2);
    free(block);
    return 0;
}
