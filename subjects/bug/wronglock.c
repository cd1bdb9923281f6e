/* Rungta and Mercer, "A Meta Heuristic for Effectively Detecting Concurrency Errors": Wronglock(1,2).
 *
 *            | paper                             | here
 * threads    | 1 with the right lock, 10 or 20   | 1 and 2, and main
 *            | with the wrong one                |
 * locks      | the data's, and another           | the same
 * operations | the first adds under the data's lock and expects nobody | the same
 *            | else to have; the others add under the wrong lock      |
 */
#include <assert.h>
#include <pthread.h>

enum { OTHERS = 2 };

static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER, wrong = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *first(void *unused) {
    pthread_mutex_lock(&right);
    int before = value; // !race
    value = before + 1; // !race
    assert(value == before + 1); // !assertion !race
    pthread_mutex_unlock(&right);
    return unused;
}

static void *other(void *unused) {
#ifdef FIXED
    pthread_mutex_t *lock = &right;
    (void)wrong;
#else
    pthread_mutex_t *lock = &wrong;
#endif
    pthread_mutex_lock(lock);
    value++; // !race
    pthread_mutex_unlock(lock);
    return unused;
}

int main(void) {
    pthread_t threads[OTHERS + 1];
    pthread_create(&threads[0], NULL, first, NULL);
    for (int i = 1; i <= OTHERS; i++)
        pthread_create(&threads[i], NULL, other, NULL);
    for (int i = 0; i <= OTHERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
