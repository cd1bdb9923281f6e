/* Begins anew each time main is called: a lock, memory of its own, a thread that nobody joins, an end from anywhere. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int *total;
static int left;

static void *add(void *amount) {
    pthread_mutex_lock(&lock);
    *total += *(int *)amount;
    left--;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *linger(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_exit(unused);
}

int main(void) {
    static int amounts[2] = {1, 2};
    pthread_t threads[3];
    total = calloc(1, sizeof *total);
    left = 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, &amounts[i]);
    pthread_create(&threads[2], NULL, linger, NULL);
    pthread_detach(threads[2]);
    pthread_mutex_lock(&lock);
    while (left > 0)
        pthread_cond_wait(&changed, &lock);
    int sum = *total;
    free(total);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    if (sum == 3)
        exit(0);
    return 1;
}
