/* Two threads race, and whatever comes of it the program ends badly. */
#include <pthread.h>
#include <stdlib.h>

static int shared;

static void *writer(void *argument) {
    shared = 1; /* races */
    return argument;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, writer, NULL);
    pthread_create(&second, NULL, writer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    abort();
}
