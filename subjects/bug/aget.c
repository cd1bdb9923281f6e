/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), tables 2 to 4: aget.
 *
 *             | paper                                     | here
 * bug         | race on bwritten, between workers and     | the same; it shows as a wrong total
 *             | the one that draws the progress bar       |
 * threads     | 6                                         | as many workers as the argument says (3), one that draws, main
 * locks       | not given                                 | the journal's; mended: one around bwritten
 * operations  | not given                                 | each worker reads its part in two pieces and writes them to
 *             |                                           | their place in memory
 */
#include "journal.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 10, PIECES = 2, BYTES = 8 };

static char remote[WORKERS_MAX * PIECES * BYTES], local[sizeof remote];
static unsigned bwritten;
static int workers = 3;

#ifdef FIXED
static pthread_mutex_t bwritten_lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCKED(statement) \
    do { \
        pthread_mutex_lock(&bwritten_lock); \
        statement; \
        pthread_mutex_unlock(&bwritten_lock); \
    } while (0)
#else
#define LOCKED(statement) statement
#endif

static void *http_get(void *argument) {
    size_t start = (size_t)argument * PIECES * BYTES;
    for (int piece = 0; piece < PIECES; piece++, start += BYTES) {
        memcpy(local + start, remote + start, BYTES);
        LOCKED(bwritten += BYTES); // !race
    }
    journal_write(3);
    return NULL;
}

static void *update_progress(void *unused) {
    unsigned seen = 0;
    for (int i = 0; i < 2; i++) {
        unsigned now;
        LOCKED(now = bwritten); // !race
        if (now > seen)
            seen = now;
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[WORKERS_MAX + 1];
    if (argc > 1)
        workers = atoi(argv[1]);
    if (workers < 1 || workers > WORKERS_MAX) {
        fprintf(stderr, "aget: between 1 and %d workers\n", WORKERS_MAX);
        return 2;
    }
    for (size_t i = 0; i < sizeof remote; i++)
        remote[i] = (char)('a' + i % 26);
    for (long i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, http_get, (void *)i);
    pthread_create(&threads[workers], NULL, update_progress, NULL);
    for (int i = 0; i <= workers; i++)
        pthread_join(threads[i], NULL);
    assert(memcmp(local, remote, (size_t)workers * PIECES * BYTES) == 0);
    assert(bwritten == (unsigned)workers * PIECES * BYTES); // !assertion
    return 0;
}
