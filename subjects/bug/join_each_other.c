/* Each thread waits for the other to end. */
#include <pthread.h>

static pthread_t threads[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started;

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    int both = started;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    (void)both;
#else
    if (both)
        pthread_join(threads[0], NULL); // !deadlock
#endif
    return unused;
}

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_create(&threads[1], NULL, second, NULL);
    started = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(threads[1], NULL); // !deadlock
    return unused;
}

int main(void) {
    pthread_mutex_lock(&lock);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_mutex_unlock(&lock);
    while (1) {
        pthread_mutex_lock(&lock);
        int done = started;
        pthread_mutex_unlock(&lock);
        if (done)
            break;
    }
#ifdef FIXED
    pthread_join(threads[0], NULL);
#else
    pthread_exit(NULL);
#endif
    return 0;
}
