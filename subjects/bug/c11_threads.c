/* C11's own threads: a flag without a lock or an atomic. */
#include <stdio.h>
#include <threads.h>

static mtx_t lock;
static int ready;

static int set(void *unused) {
    (void)unused;
#ifdef FIXED
    mtx_lock(&lock);
#endif
    ready = 1; // !race
#ifdef FIXED
    mtx_unlock(&lock);
#endif
    return 0;
}

int main(void) {
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    if (thrd_create(&thread, set, NULL) != thrd_success)
        return 2;
#ifdef FIXED
    mtx_lock(&lock);
#endif
    int seen = ready; // !race
#ifdef FIXED
    mtx_unlock(&lock);
#endif
    thrd_join(thread, NULL);
    mtx_destroy(&lock);
    return seen & ~1;
}
