/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: TimerThread.
 *
 *             | paper             | here
 * bug         | deadlock          | the timer thread looks outside of its lock whether it is to end, and then waits
 * threads     | not given         | 2: the timer thread, and one that shuts it down; main
 * shared data | not given         | the flag
 * locks       | inserted ones     | the timer's with a condition variable; the journal's
 * operations  | not given         | a read, then lock and wait; lock, a write, notify; then 6 lines of the journal each
 */
#include "journal.h"
#include "pair.h"
#include <stdatomic.h>

/* Atomic, so that the lost notification is all that is wrong. */
static atomic_int shutdown_wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;

static void *timer(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    while (!shutdown_wanted)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
#else
    while (!shutdown_wanted) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&change, &lock); // !deadlock
        pthread_mutex_unlock(&lock);
    }
#endif
    journal_write(6);
    return unused;
}

static void *shut_down(void *unused) {
    pthread_mutex_lock(&lock);
    shutdown_wanted = 1;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
    journal_write(6);
    return unused;
}

int main(void) {
    pair(timer, shut_down);
    return 0;
}
