// Memory that libc reads and writes for the program: the writer puts a name together while a reader looks into it, and
// nothing orders the two. Ours; no paper. Two threads, no lock, no access of the program's own to the name.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char name[32] = "nobody.0";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) {
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
}

static void unlock(void) {
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *writer(void *argument) {
    lock();
    snprintf(name, sizeof name, "somebody.%d %s %.1f", 1, "x", 2.5); // !race
    unlock();
    return argument;
}

static void *reader(void *argument) {
    lock();
    char *dot = strchr(name, '.'); // !race
    char *copy = strdup(name);     // !race
    unlock();
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
