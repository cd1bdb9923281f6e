/* A counter of sixteen bytes, its halves always equal: added to by an exchange that is tried again, or by a load and a
 * store with room between them. */
#include "pair.h"
#include <assert.h>

typedef unsigned __int128 wide;

static wide counter;
static const wide ONE = (wide)1 << 64 | 1;

static wide load(void) {
    return __atomic_load_n(&counter, __ATOMIC_ACQUIRE);
}

static void *add(void *unused) {
#ifdef FIXED
    wide old = load();
    while (!__atomic_compare_exchange_n(&counter, &old, old + ONE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
#else
    __atomic_store_n(&counter, load() + ONE, __ATOMIC_RELEASE);
#endif
    return unused;
}

int main(void) {
    pair(add, add);
    wide total = load();
    assert((unsigned long)total == (unsigned long)(total >> 64));
    assert(total == 2 * ONE); // !assertion
    return 0;
}
