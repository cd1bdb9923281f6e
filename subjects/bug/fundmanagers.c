/* Stoller, "Testing Concurrent Java Programs using Randomized Scheduling" (RV 2002): Fund Managers.
 *
 *            | paper                        | here
 * threads    | not given                    | 3 managers, and main
 * locks      | not given                    | none; mended: one around each transfer
 * operations | managers transfer money;     | each makes 3 transfers between 4 funds: read and write both;
 *            | an assertion on the total    | main sums up at the end
 */
#include <assert.h>
#include <pthread.h>

enum { FUNDS = 4, MANAGERS = 3, TRANSFERS = 3, MONEY = 100 };

static int funds[FUNDS];
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void transfer(int from, int to, int amount) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    funds[from] -= amount; // !race
    funds[to] += amount;   // !race
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *manage(void *argument) {
    int manager = (int)(long)argument;
    for (int i = 0; i < TRANSFERS; i++)
        transfer((manager + i) % FUNDS, (manager + 2 * i + 1) % FUNDS, 10 + manager);
    return NULL;
}

int main(void) {
    pthread_t threads[MANAGERS];
    for (int i = 0; i < FUNDS; i++)
        funds[i] = MONEY;
    for (long i = 0; i < MANAGERS; i++)
        pthread_create(&threads[i], NULL, manage, (void *)i);
    for (int i = 0; i < MANAGERS; i++)
        pthread_join(threads[i], NULL);
    int total = 0;
    for (int i = 0; i < FUNDS; i++)
        total += funds[i];
    assert(total == FUNDS * MONEY); // !assertion
    return 0;
}
