/* Whoever sees that a buffer is no longer used frees it; both may see it. */
#include "pair.h"
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int users = 2;
static char *buffer;

static void *release(void *unused) {
#ifdef FIXED
    if (atomic_fetch_sub(&users, 1) == 1)
#else
    atomic_fetch_sub(&users, 1);
    if (users == 0)
#endif
        free(buffer); // !memory !race
    return unused;
}

int main(void) {
    buffer = malloc(16); // !memory
    pair(release, release);
    return 0;
}
