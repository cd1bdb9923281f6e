/* The exit code depends on who was first. */
#include "pair.h"

static int winner;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void finish(int me) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    winner |= me;
    pthread_mutex_unlock(&lock);
#else
    if (!winner)     // !race
        winner = me; // !race
#endif
}

static void *one(void *unused) {
    finish(1);
    return unused;
}

static void *two(void *unused) {
    finish(2);
    return unused;
}

int main(void) {
    pair(one, two);
#ifdef FIXED
    return winner - 3;
#else
    return winner - 1; // !exit
#endif
}
