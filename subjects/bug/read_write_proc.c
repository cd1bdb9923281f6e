/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: ReadWriteProc.
 *
 *             | paper             | here
 * bug         | order             | "waiting" may be set after it was cleared
 * threads     | not given         | 2: main starts the read, the other completes it
 * shared data | not given         | the flag
 * locks       | inserted ones     | one around the flag, with a condition variable; the journal's
 * operations  | not given         | set, wait while set; clear and notify; then 6 lines of the journal each
 */
#include "journal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int pending;

static void *complete(void *unused) {
    pthread_mutex_lock(&lock);
    pending = 0;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    journal_write(6);
    return unused;
}

static void begin_waiting(void) {
    pthread_mutex_lock(&lock);
    pending = 1;
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t thread;
#ifdef FIXED
    begin_waiting();
#endif
    pthread_create(&thread, NULL, complete, NULL);
#ifndef FIXED
    begin_waiting();
#endif
    pthread_mutex_lock(&lock);
    while (pending)
        pthread_cond_wait(&done, &lock); // !deadlock
    pthread_mutex_unlock(&lock);
    journal_write(6);
    pthread_join(thread, NULL);
    return 0;
}
