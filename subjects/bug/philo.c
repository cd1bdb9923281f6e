/* Sen, "Effective Random Testing of Concurrent Programs" (ASE 2007), table 1: philo.
 *
 *            | paper              | here
 * threads    | 3 philosophers     | the same, and main
 * locks      | a fork for each    | the same
 * operations | not given          | each takes the fork at its left, then the one at its right, twice
 */
#include <pthread.h>

enum { PHILOSOPHERS = 3, MEALS = 2 };

static pthread_mutex_t forks[PHILOSOPHERS] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int eaten[PHILOSOPHERS];

static void *dine(void *argument) {
    int seat = (int)(long)argument;
    int first = seat, second = (seat + 1) % PHILOSOPHERS;
#ifdef FIXED
    if (first > second) {
        first = second;
        second = seat;
    }
#endif
    for (int meal = 0; meal < MEALS; meal++) {
        pthread_mutex_lock(&forks[first]);
        pthread_mutex_lock(&forks[second]); // !deadlock
        eaten[seat]++;
        pthread_mutex_unlock(&forks[second]);
        pthread_mutex_unlock(&forks[first]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[PHILOSOPHERS];
    for (long seat = 0; seat < PHILOSOPHERS; seat++)
        pthread_create(&threads[seat], NULL, dine, (void *)seat);
    for (int seat = 0; seat < PHILOSOPHERS; seat++)
        pthread_join(threads[seat], NULL);
    return eaten[0] != MEALS;
}
