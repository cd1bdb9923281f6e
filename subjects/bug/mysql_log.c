/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: MysqlLog.
 *
 *             | paper             | here
 * bug         | atomicity         | while the log is rotated it is closed for a moment: an entry is dropped
 * threads     | not given         | 2: one rotates, one makes an entry; main
 * shared data | not given         | the flag, the number of entries
 * locks       | inserted ones     | the journal's; mended: one around each step
 * operations  | not given         | 2 writes against a read; then 4 lines of the journal each
 */
#include "journal.h"
#include "pair.h"
#include <assert.h>

static int closed, entries;
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&whole)
#define UNLOCK() pthread_mutex_unlock(&whole)
#else
#define LOCK()
#define UNLOCK()
#endif

static void *rotate(void *unused) {
    LOCK();
    closed = 1; // !race
    closed = 0; // !race
    UNLOCK();
    journal_write(4);
    return unused;
}

static void *entry(void *unused) {
    LOCK();
    if (!closed) // !race
        entries++;
    UNLOCK();
    journal_write(4);
    return unused;
}

int main(void) {
    pair(rotate, entry);
    assert(entries == 1); // !assertion
    return 0;
}
