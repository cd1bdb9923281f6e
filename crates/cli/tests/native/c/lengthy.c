// A run of many steps, which always fails in the end: to record it takes much longer than to run it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int turns;

static void *work(void *unused) {
    for (int turn = 0; turn < 500000; turn++) atomic_fetch_add(&turns, 1);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(turns == 0);
    return 0;
}
