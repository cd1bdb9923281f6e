/* Rungta and Mercer, "A Meta Heuristic for Effectively Detecting Concurrency Errors": TwoStage(2,1).
 *
 *            | paper                          | here
 * threads    | 7 to 10 writers, 1 reader      | 2 writers, 1 reader, and main
 * locks      | one for each of two values     | the same
 * operations | a writer sets the first value, then, | the same
 *            | under the other lock, the second;    |
 *            | the reader expects both              |
 */
#include <assert.h>
#include <pthread.h>

enum { WRITERS = 2 };

static pthread_mutex_t lock1 = PTHREAD_MUTEX_INITIALIZER, lock2 = PTHREAD_MUTEX_INITIALIZER;
static int data1, data2;

static void *two_stage(void *unused) {
    pthread_mutex_lock(&lock1);
    data1 = 1;
#ifndef FIXED
    pthread_mutex_unlock(&lock1);
#endif
    pthread_mutex_lock(&lock2);
    data2 = 2;
    pthread_mutex_unlock(&lock2);
#ifdef FIXED
    pthread_mutex_unlock(&lock1);
#endif
    return unused;
}

static void *reader(void *unused) {
    pthread_mutex_lock(&lock1);
    int first = data1;
    pthread_mutex_unlock(&lock1);
    if (first == 0)
        return unused;
    pthread_mutex_lock(&lock2);
    int second = data2;
    pthread_mutex_unlock(&lock2);
    assert(second == first + 1); // !assertion
    return unused;
}

int main(void) {
    pthread_t threads[WRITERS + 1];
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, two_stage, NULL);
    pthread_create(&threads[WRITERS], NULL, reader, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
