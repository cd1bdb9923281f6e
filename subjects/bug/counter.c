/* x++ in two threads, without a lock: three accesses, one statement. */
#include "pair.h"
#include <assert.h>

static int x;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *add(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    x++; // !race
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pair(add, add);
    assert(x == 2); // !assertion
    return 0;
}
