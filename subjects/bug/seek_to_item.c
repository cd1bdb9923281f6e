/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: SeekToItem.
 *
 *             | paper             | here
 * bug         | atomicity         | that an item is there and reading it are two steps: it may be gone
 * threads     | not given         | 2: one seeks, one removes; main
 * shared data | not given         | the item
 * locks       | inserted ones     | the journal's; mended: one around each step
 * operations  | not given         | 2 reads against a write; then 5 lines of the journal each
 */
#include "journal.h"
#include "pair.h"

static int seven = 7, *item = &seven;
static int sought;
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&whole)
#define UNLOCK() pthread_mutex_unlock(&whole)
#else
#define LOCK()
#define UNLOCK()
#endif

static void *seek(void *unused) {
    LOCK();
    if (item)           // !race
        sought = *item; // !race !crash
    UNLOCK();
    journal_write(5);
    return unused;
}

static void *remove_item(void *unused) {
    LOCK();
    item = NULL; // !race
    UNLOCK();
    journal_write(5);
    return unused;
}

int main(void) {
    pair(seek, remove_item);
    return sought != 0 && sought != 7;
}
