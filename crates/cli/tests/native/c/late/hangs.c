/* If the second thread is first, the first one spins for ever where nobody can interrupt it. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *first(void *argument) {
    pthread_mutex_lock(&lock);
    int late = done == 4;
    pthread_mutex_unlock(&lock);
    if (late)
        for (;;)
            __asm__ volatile("");
    return argument;
}

static void *second(void *argument) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        done++;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    printf("begin ");
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    printf("end\n");
    return 0;
}
