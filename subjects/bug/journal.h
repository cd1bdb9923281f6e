/* What the tasks of the extracts share besides their bug: each writes lines, one by one, under a lock that all take. */
#ifndef JOURNAL_H
#define JOURNAL_H
#include <pthread.h>

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal_lines;

static void journal_write(int lines) {
    for (int i = 0; i < lines; i++) {
        pthread_mutex_lock(&journal_lock);
        journal_lines++;
        pthread_mutex_unlock(&journal_lock);
    }
}
#endif
