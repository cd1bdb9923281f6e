/* A semaphore that lets two in where one should be: the buffer has one place. */
#include "pair.h"
#include <assert.h>
#include <semaphore.h>
#include <stdatomic.h>

#ifdef FIXED
enum { PLACES = 1 };
#else
enum { PLACES = 2 };
#endif

static sem_t places;
static atomic_int inside;

static void *use(void *unused) {
    sem_wait(&places);
    int others = atomic_fetch_add(&inside, 1);
    assert(others == 0); // !assertion
    atomic_fetch_sub(&inside, 1);
    sem_post(&places);
    return unused;
}

int main(void) {
    sem_init(&places, 0, PLACES);
    pair(use, use);
    sem_destroy(&places);
    return 0;
}
