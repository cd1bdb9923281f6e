/* "It will have been done after a second": a sleep is no synchronization. */
#include "pair.h"
#include <assert.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done;

static void *work(void *unused) {
    usleep(1000);
    done = 1;
    return unused;
}

static void *hope(void *unused) {
    sleep(1);
#ifdef FIXED
    while (!done)
        sleep(1);
#endif
    assert(done); // !assertion
    return unused;
}

int main(void) {
    pair(work, hope);
    return 0;
}
