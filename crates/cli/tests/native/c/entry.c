/* A main that does nothing, and a function that can be called in its place. */
#include <assert.h>
#include <pthread.h>

static int value;

static void *increase(void *unused) {
    value++;
    return unused;
}

int check(void) {
    pthread_t threads[2];
    value = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increase, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(value == 2);
    return 0;
}

int main(void) { return 3; }
