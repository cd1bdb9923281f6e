/* Two phases, between which a barrier is missing: one thread reads what the other may not yet have written. */
#include "pair.h"

static pthread_barrier_t barrier;
static int halves[2], wholes[2];

static void phases(int me) {
    halves[me] = me + 1; // !race
#ifdef FIXED
    pthread_barrier_wait(&barrier);
#endif
    wholes[me] = halves[0] + halves[1]; // !race
    pthread_barrier_wait(&barrier);
}

static void *zero(void *unused) {
    phases(0);
    return unused;
}

static void *one(void *unused) {
    phases(1);
    return unused;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    pair(zero, one);
    pthread_barrier_destroy(&barrier);
    return wholes[0] < 0;
}
