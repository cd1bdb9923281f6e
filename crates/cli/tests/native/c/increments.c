/* Four threads add to one atomic: 4! partial orders. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sum;

static void *work(void *argument) {
    atomic_fetch_add(&sum, 1);
    return argument;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return atomic_load(&sum) == 4 ? 0 : 1;
}
