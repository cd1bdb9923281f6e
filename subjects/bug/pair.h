/* Two threads, started and joined by main. */
#ifndef PAIR_H
#define PAIR_H
#include <pthread.h>
#include <stdlib.h>

static void pair(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, first, NULL) || pthread_create(&threads[1], NULL, second, NULL))
        abort();
    pthread_join(threads[0], NULL); // !deadlock !livelock
    pthread_join(threads[1], NULL); // !deadlock !livelock
}
#endif
