/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: Loadscript.
 *
 *             | paper             | here
 * bug         | atomicity         | a script is set and compiled in two steps: another may be compiled
 * threads     | not given         | 2 that load; main
 * shared data | not given         | the current script
 * locks       | inserted ones     | the journal's; mended: one around each load
 * operations  | not given         | a write and a read each; then 5 lines of the journal
 */
#include "journal.h"
#include <assert.h>

static int current;
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *load(void *argument) {
    int script = (int)(long)argument;
#ifdef FIXED
    pthread_mutex_lock(&whole);
#endif
    current = script;       // !race
    int compiled = current; // !race
#ifdef FIXED
    pthread_mutex_unlock(&whole);
#endif
    journal_write(5);
    assert(compiled == script); // !assertion
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, load, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
