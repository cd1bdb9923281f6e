/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: UpdateTimer.
 *
 *             | paper             | here
 * bug         | atomicity         | that there is a timer and starting it are two steps: it may be dropped
 * threads     | not given         | 2: one updates, one is the callback; main
 * shared data | not given         | the timer
 * locks       | inserted ones     | the journal's; mended: one around each step
 * operations  | not given         | 2 reads against a read and a write; then 5 lines of the journal each
 */
#include "journal.h"
#include "pair.h"

struct timer {
    int delay;
};
static struct timer once = {10}, *timer = &once;
static int started;
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&whole)
#define UNLOCK() pthread_mutex_unlock(&whole)
#else
#define LOCK()
#define UNLOCK()
#endif

static void *update(void *unused) {
    LOCK();
    if (timer)                  // !race
        started = timer->delay; // !race !crash
    UNLOCK();
    journal_write(5);
    return unused;
}

static void *fire(void *unused) {
    LOCK();
    if (timer)        // !race
        timer = NULL; // !race
    UNLOCK();
    journal_write(5);
    return unused;
}

int main(void) {
    pair(update, fire);
    return started != 0 && started != 10;
}
