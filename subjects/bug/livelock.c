/* Both raise a flag and wait until the other's is down: if both are up, both wait for ever. */
#include "pair.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2];
#ifdef FIXED
static atomic_int turn;
#endif
static int inside;

static void enter(int me) {
    wants[me] = 1;
#ifdef FIXED
    turn = !me;
    while (wants[!me] && turn != me)
        sched_yield();
#else
    while (wants[!me]) // !livelock
        sched_yield(); // !livelock
#endif
    inside++;
    wants[me] = 0;
}

static void *zero(void *unused) {
    enter(0);
    return unused;
}

static void *one(void *unused) {
    enter(1);
    return unused;
}

int main(void) {
    pair(zero, one);
    return inside != 2;
}
