/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 5: FileTransport.
 *
 *             | paper             | here
 * bug         | deadlock          | two locks in opposite orders
 * threads     | not given         | 2: one processes the transport, one suspends it; main
 * shared data | not given         | bytes read, transports suspended
 * locks       | inserted ones     | the transport's, the service's, the journal's
 * operations  | not given         | each takes both locks; then 4 lines of the journal
 */
#include "journal.h"
#include "pair.h"

static pthread_mutex_t transport = PTHREAD_MUTEX_INITIALIZER, service = PTHREAD_MUTEX_INITIALIZER;
static int bytes_read, suspended;

static void *process(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&service);
    pthread_mutex_lock(&transport);
#else
    pthread_mutex_lock(&transport);
    pthread_mutex_lock(&service); // !deadlock
#endif
    bytes_read++;
    pthread_mutex_unlock(&service);
    pthread_mutex_unlock(&transport);
    journal_write(4);
    return unused;
}

static void *suspend(void *unused) {
    pthread_mutex_lock(&service);
    pthread_mutex_lock(&transport); // !deadlock
    suspended++;
    pthread_mutex_unlock(&transport);
    pthread_mutex_unlock(&service);
    journal_write(4);
    return unused;
}

int main(void) {
    pair(process, suspend);
    return bytes_read + suspended != 2;
}
