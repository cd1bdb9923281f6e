// The mended twin: both hold a lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char name[32] = "nobody.0";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *argument) {
    pthread_mutex_lock(&lock);
    snprintf(name, sizeof name, "somebody.%d %s %.1f", 1, "x", 2.5);
    pthread_mutex_unlock(&lock);
    return argument;
}

static void *reader(void *argument) {
    pthread_mutex_lock(&lock);
    char *dot = strchr(name, '.');
    char *copy = strdup(name);
    pthread_mutex_unlock(&lock);
    free(copy);
    return dot ? argument : 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return strcmp(name, "somebody.1 x 2.5");
}
