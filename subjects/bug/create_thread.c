/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: CreateThread.
 *
 *             | paper             | here
 * bug         | order             | the handle of a new thread may be read by it before it is stored
 * threads     | not given         | 2: main makes the other
 * shared data | not given         | the handle
 * locks       | inserted ones     | the journal's; mended: the new thread waits until it is stored
 * operations  | not given         | a write against a read; then 4 lines of the journal each
 */
#include "journal.h"
#include <stddef.h>

struct handle {
    int id;
};
static struct handle one = {1}, *handle;
static int seen;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
#endif

static void *thread_main(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    while (!handle)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
#endif
    seen = handle->id; // !race !crash
    journal_write(4);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, thread_main, NULL);
#ifdef FIXED
    pthread_mutex_lock(&lock);
    handle = &one;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
#else
    handle = &one; // !race
#endif
    journal_write(4);
    pthread_join(thread, NULL);
    return seen != 1;
}
