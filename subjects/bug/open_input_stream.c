/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: OpenInputStr.
 *
 *             | paper             | here
 * bug         | deadlock          | a notification is lost between looking and waiting
 * threads     | not given         | 2: one opens, one provides; main
 * shared data | not given         | the flag
 * locks       | inserted ones     | the monitor with a condition variable; the journal's
 * operations  | not given         | a read, then lock and wait; a write, then lock and notify; then 8 lines of the journal each
 */
#include "journal.h"
#include "pair.h"
#include <stdatomic.h>

/* Atomic, so that the lost notification is all that is wrong. */
static atomic_int ready;
static pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

static void *open_stream(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&monitor);
    while (!ready)
        pthread_cond_wait(&told, &monitor);
    pthread_mutex_unlock(&monitor);
#else
    if (!ready) {
        pthread_mutex_lock(&monitor);
        pthread_cond_wait(&told, &monitor); // !deadlock
        pthread_mutex_unlock(&monitor);
    }
#endif
    journal_write(8);
    return unused;
}

static void *provide(void *unused) {
    ready = 1;
    pthread_mutex_lock(&monitor);
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&monitor);
    journal_write(8);
    return unused;
}

int main(void) {
    pair(open_stream, provide);
    return 0;
}
