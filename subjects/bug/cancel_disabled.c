/* A thread that hears no requests waits for a permit that only its end would give. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t permits;

static void *take(void *unused) {
    int before;
    sched_yield();
#ifdef FIXED
    if (pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) || before != PTHREAD_CANCEL_ENABLE)
        abort();
    pthread_testcancel();
    if (pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) || before != PTHREAD_CANCEL_DISABLE)
        abort();
#else
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
#endif
    sem_wait(&permits); // !deadlock
    return unused;
}

int main(void) {
    pthread_t taker;
    void *result;
    sem_init(&permits, 0, 0);
    pthread_create(&taker, NULL, take, NULL);
    pthread_cancel(taker);
    pthread_join(taker, &result); // !deadlock
    return result != PTHREAD_CANCELED;
}
