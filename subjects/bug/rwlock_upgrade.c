/* Two readers who both want to become writers wait for each other to stop reading. */
#include "pair.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static int readers, value;

static void *update(void *unused) {
    pthread_mutex_lock(&writers);
    readers++;
    pthread_mutex_unlock(&writers);
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    pthread_rwlock_unlock(&lock);
    pthread_mutex_lock(&writers);
#ifdef FIXED
    readers--;
    pthread_cond_broadcast(&left);
    while (readers > 0)
        pthread_cond_wait(&left, &writers);
#else
    while (readers > 1)
        pthread_cond_wait(&left, &writers); // !deadlock
    readers--;
    pthread_cond_broadcast(&left);
#endif
    pthread_mutex_unlock(&writers);
    pthread_rwlock_wrlock(&lock);
    value = seen + 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pair(update, update);
    return value == 0;
}
