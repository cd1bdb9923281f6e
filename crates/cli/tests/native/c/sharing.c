/* A variable of each thread's own, one behind a lock, and one that a second thread touches in some runs only: then an
 * addition can be lost. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int own[2][64], guarded, late;
static atomic_int open_, second;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < 50; i++)
        own[me][i % 8]++;
    pthread_mutex_lock(&mutex);
    guarded++;
    pthread_mutex_unlock(&mutex);
    if (me == 0) {
        atomic_store(&open_, 1);
        late++;
    } else if (atomic_load(&open_)) {
        atomic_store(&second, 1);
        late++;
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    (void)argv;
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(guarded == 2);
    if (argc > 1)
        assert(late == 1 + atomic_load(&second));
    return 0;
}
