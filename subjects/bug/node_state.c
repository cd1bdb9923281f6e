/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: NodeState.
 *
 *             | paper             | here
 * bug         | order             | a node may be read before its state is set
 * threads     | not given         | 2: main makes the other
 * shared data | not given         | the state
 * locks       | inserted ones     | the journal's
 * operations  | not given         | a write against a read; then 4 lines of the journal each
 */
#include "journal.h"
#include <assert.h>

enum { LOADED = 2 };
static int state;

static void *reader(void *unused) {
    int seen = state; // !race
    journal_write(4);
    assert(seen == LOADED); // !assertion
    return unused;
}

int main(void) {
    pthread_t thread;
#ifdef FIXED
    state = LOADED;
#endif
    pthread_create(&thread, NULL, reader, NULL);
#ifndef FIXED
    state = LOADED; // !race
#endif
    journal_write(4);
    pthread_join(thread, NULL);
    return 0;
}
