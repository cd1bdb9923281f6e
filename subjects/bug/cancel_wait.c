/* A thread is cancelled while it waits: it has its mutex again then, and must give it back on its way out. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void give_back(void *mutex_) {
    cleaned++;
    pthread_mutex_unlock(mutex_);
}

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    pthread_cleanup_push(give_back, &mutex);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
#else
    (void)give_back;
    for (;;)
        pthread_cond_wait(&never, &mutex);
#endif
    return unused;
}

int main(void) {
    pthread_t waiter;
    void *result;
    pthread_create(&waiter, NULL, wait_for_ever, NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, &result);
    if (result != PTHREAD_CANCELED)
        abort();
    pthread_mutex_lock(&mutex); // !deadlock
    int expected = cleaned == 1;
    pthread_mutex_unlock(&mutex);
    return !expected;
}
