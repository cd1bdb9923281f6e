/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 2: pfscan.
 *
 *             | paper                                     | here
 * bug         | aworkers, set too late, hangs main        | the same: a worker that has ended before is counted once more
 * threads     | 3                                         | main and 2 workers
 * locks       | not given                                 | the queue's with a condition variable, aworkers' with another,
 *             |                                           | the output's
 * operations  | not given                                 | workers take texts, count matches, until the queue is closed
 */
#include <pthread.h>
#include <string.h>

enum { WORKERS = 2, FILES = 3 };

static const char *texts[FILES] = {"a needle", "hay", "needle and needle"};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int head, tail, closed;

static pthread_mutex_t workers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t last = PTHREAD_COND_INITIALIZER;
static int aworkers;

static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static int matches;

static const char *get(void) {
    pthread_mutex_lock(&queue_lock);
    while (head == tail && !closed)
        pthread_cond_wait(&not_empty, &queue_lock);
    const char *text = head < tail ? texts[head++] : NULL;
    pthread_mutex_unlock(&queue_lock);
    return text;
}

static void put(void) {
    for (int file = 0; file < FILES; file++) {
        pthread_mutex_lock(&queue_lock);
        tail++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&queue_lock);
    }
    pthread_mutex_lock(&queue_lock);
    closed = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&queue_lock);
}

static void *worker(void *unused) {
    for (const char *text; (text = get());) {
        for (const char *at = text; (at = strstr(at, "needle")); at++) {
            pthread_mutex_lock(&output_lock);
            matches++;
            pthread_mutex_unlock(&output_lock);
        }
    }
    pthread_mutex_lock(&workers_lock);
    if (--aworkers == 0)
        pthread_cond_signal(&last);
    pthread_mutex_unlock(&workers_lock);
    return unused;
}

static void count_workers(void) {
    pthread_mutex_lock(&workers_lock);
    aworkers = WORKERS;
    pthread_mutex_unlock(&workers_lock);
}

int main(void) {
    pthread_t threads[WORKERS];
#ifdef FIXED
    count_workers();
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    put();
#ifndef FIXED
    count_workers();
#endif
    pthread_mutex_lock(&workers_lock);
    while (aworkers > 0)
        pthread_cond_wait(&last, &workers_lock); // !deadlock
    pthread_mutex_unlock(&workers_lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return matches != 3;
}
