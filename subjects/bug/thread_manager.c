/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 1: thrift-lib.
 *
 *             | paper                                     | here
 * bug         | a known deadlock in the layer over        | adding takes the queue's lock and then the workers'; coming to
 *             | mutexes and condition variables           | work takes them the other way round
 * threads     | 2 to 5 workers, and main                  | as many workers as the argument says (2), and main
 * tasks       | about 5 for each worker                   | 5 for each worker
 * locks       | not given                                 | the queue's with a condition variable, the workers', one for the
 *             |                                           | tasks that are done with another
 */
#include <pthread.h>
#include <stdlib.h>

enum { WORKERS_MAX = 8, TASKS = 5 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, workers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, all_done = PTHREAD_COND_INITIALIZER;
static int queued, idle, stopped, working, done, all;

static void add(void) {
#ifdef FIXED
    pthread_mutex_lock(&workers_lock);
    pthread_mutex_lock(&queue_lock);
    queued++;
#else
    pthread_mutex_lock(&queue_lock);
    queued++;
    /* Is anybody there who could do it? */
    pthread_mutex_lock(&workers_lock); // !deadlock
#endif
    if (idle > 0)
        pthread_cond_signal(&wake);
    pthread_mutex_unlock(&workers_lock);
    pthread_mutex_unlock(&queue_lock);
}

static void come(void) {
    pthread_mutex_lock(&workers_lock);
    working++;
    pthread_mutex_lock(&queue_lock); // !deadlock
    idle++;
    pthread_mutex_unlock(&queue_lock);
    pthread_mutex_unlock(&workers_lock);
}

static int take(void) {
    pthread_mutex_lock(&queue_lock);
    while (queued == 0 && !stopped)
        pthread_cond_wait(&wake, &queue_lock);
    int found = queued > 0;
    queued -= found;
    pthread_mutex_unlock(&queue_lock);
    return found;
}

static void *work(void *unused) {
    come();
    while (take()) {
        pthread_mutex_lock(&done_lock);
        if (++done == all)
            pthread_cond_signal(&all_done);
        pthread_mutex_unlock(&done_lock);
    }
    pthread_mutex_lock(&workers_lock);
    working--;
    pthread_mutex_unlock(&workers_lock);
    return unused;
}

int main(int argc, char **argv) {
    int workers = argc > 1 ? atoi(argv[1]) : 2;
    if (workers < 1 || workers > WORKERS_MAX)
        return 2;
    pthread_t threads[WORKERS_MAX];
    all = workers * TASKS;
    for (int i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int task = 0; task < workers * TASKS; task++)
        add();
    pthread_mutex_lock(&done_lock);
    while (done < all)
        pthread_cond_wait(&all_done, &done_lock);
    pthread_mutex_unlock(&done_lock);
    pthread_mutex_lock(&queue_lock);
    stopped = 1;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    return working;
}
