/* Four threads, two hundred thousand additions. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *work(void *unused) {
    for (int i = 0; i < 50000; i++)
        atomic_fetch_add(&counter, 1);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return counter != 200000;
}
