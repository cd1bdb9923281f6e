/* Stoller, "Testing Concurrent Java Programs using Randomized Scheduling" (RV 2002): Clean, after Brat et al. 2000.
 *
 *            | paper                             | here
 * threads    | 2                                 | 2, and main
 * locks      | 2 events, each a monitor          | the same
 * operations | look at the event's count outside | the same, in 2 rounds instead of for ever
 *            | of the monitor; wait; signal      |
 */
#include "pair.h"

enum { ROUNDS = 2 };

struct event {
    pthread_mutex_t monitor;
    pthread_cond_t signalled;
    int count;
};

static struct event first = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct event second = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

/* Waits until the count is no longer what it was, and gives the new one. */
static int changed(struct event *event, int before) {
#ifdef FIXED
    pthread_mutex_lock(&event->monitor);
    while (event->count == before)
        pthread_cond_wait(&event->signalled, &event->monitor);
    int now = event->count;
    pthread_mutex_unlock(&event->monitor);
    return now;
#else
    if (event->count == before) { // !race
        pthread_mutex_lock(&event->monitor);
        pthread_cond_wait(&event->signalled, &event->monitor); // !deadlock
        pthread_mutex_unlock(&event->monitor);
    }
    return event->count; // !race
#endif
}

static void signal_event(struct event *event) {
    pthread_mutex_lock(&event->monitor);
    event->count++; // !race
    pthread_cond_broadcast(&event->signalled);
    pthread_mutex_unlock(&event->monitor);
}

static void *first_task(void *unused) {
    for (int round = 0, count = 0; round < ROUNDS; round++) {
        count = changed(&first, count);
        signal_event(&second);
    }
    return unused;
}

static void *second_task(void *unused) {
    for (int round = 0, count = 0; round < ROUNDS; round++) {
        signal_event(&first);
        count = changed(&second, count);
    }
    return unused;
}

int main(void) {
    pair(first_task, second_task);
    return 0;
}
