/* Two threads; in about half of all runs main comes first, and then does harm. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *other(void *argument) {
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    return argument;
}

static void both(void (*harm)(void)) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&lock);
    int first = turns == 0;
    pthread_mutex_unlock(&lock);
    if (first)
        harm();
    pthread_join(thread, 0);
}
