/* A lock is given back by whoever ends first, not by whoever took it. */
#include "pair.h"
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int taken;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    taken = 1;
    taken = 0;
    pthread_mutex_unlock(&lock); // !misuse
    return unused;
}

static void *give(void *unused) {
#ifndef FIXED
    if (taken)
        pthread_mutex_unlock(&lock); // !misuse
#endif
    return unused;
}

int main(void) {
    pair(take, give);
    return 0;
}
