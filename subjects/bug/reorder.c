/* Rungta and Mercer, "A Meta Heuristic for Effectively Detecting Concurrency Errors": Reorder(2,1).
 *
 *            | paper                          | here
 * threads    | 5 to 10 setters, 1 checker     | 2 setters, 1 checker, and main
 * locks      | none                           | none; mended: one around each
 * operations | a = 1, b = -1; the checker expects | the same
 *            | both or neither                    |
 */
#include <assert.h>
#include <pthread.h>

enum { SETTERS = 2 };

static int a, b;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *set(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    a = 1;  // !race
    b = -1; // !race
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *check(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int one = a; // !race
    int two = b; // !race
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert((one == 0 && two == 0) || (one == 1 && two == -1)); // !assertion
    return unused;
}

int main(void) {
    pthread_t threads[SETTERS + 1];
    for (int i = 0; i < SETTERS; i++)
        pthread_create(&threads[i], NULL, set, NULL);
    pthread_create(&threads[SETTERS], NULL, check, NULL);
    for (int i = 0; i <= SETTERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
