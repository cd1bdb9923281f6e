/* Two hundred threads, all of which add to a total; one forgets the lock. */
#include <pthread.h>

enum { THREADS = 200, FORGETFUL = 117 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *add(void *argument) {
    long me = (long)argument;
#ifndef FIXED
    if (me == FORGETFUL) {
        total += (int)me; // !race
        return NULL;
    }
#endif
    pthread_mutex_lock(&lock);
    total += (int)me; // !race
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return total < 0;
}
