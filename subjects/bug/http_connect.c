/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: HttpConnect.
 *
 *             | paper             | here
 * bug         | order             | an event may come before the connection is stored
 * threads     | not given         | 2: main connects, the other is the socket's
 * shared data | not given         | the connection
 * locks       | inserted ones     | the socket's with a condition variable; the journal's
 * operations  | not given         | asks under a lock, stores; waits, reads; then 5 lines of the journal each
 */
#include "journal.h"
#include <stddef.h>

struct connection {
    int port;
};
static struct connection http = {80}, *connection;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int asked, port;

static void *events(void *unused) {
    pthread_mutex_lock(&lock);
    while (!asked)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
    port = connection->port; // !race !crash
    journal_write(5);
    return unused;
}

static void ask(void) {
    pthread_mutex_lock(&lock);
    asked = 1;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, events, NULL);
#ifdef FIXED
    connection = &http;
    ask();
#else
    ask();
    connection = &http; // !race
#endif
    journal_write(5);
    pthread_join(thread, NULL);
    return port != 80;
}
