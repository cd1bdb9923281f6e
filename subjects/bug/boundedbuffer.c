/* Sen, "Effective Random Testing of Concurrent Programs" (ASE 2007), table 1: boundedbuffer.
 *
 *            | paper              | here
 * threads    | 4                  | 2 producers, 2 consumers, and main
 * locks      | the buffer's       | a mutex and one condition variable for "not full" and "not empty"
 * operations | not given          | each puts or gets twice; whoever has done so wakes one thread, perhaps the wrong one
 */
#include <pthread.h>

enum { SIZE = 1, ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int count;

static void tell(void) {
#ifdef FIXED
    pthread_cond_broadcast(&change);
#else
    pthread_cond_signal(&change);
#endif
}

static void *produce(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (count == SIZE)
            pthread_cond_wait(&change, &lock); // !deadlock
        count++;
        tell();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&change, &lock); // !deadlock
        count--;
        tell();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 ? produce : consume, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL); // !deadlock
    return count;
}
