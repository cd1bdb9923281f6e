/* The owner of a robust mutex dies. Whoever has it next is told so; who then gives it back without mending it makes it
 * useless for all who come after. */
#include "pair.h"
#include <assert.h>
#include <errno.h>

static pthread_mutex_t mutex;
static int value;

static void *die(void *unused) {
    pthread_mutex_lock(&mutex);
    value++;
    return unused;
}

static void *go_on(void *unused) {
    int told = pthread_mutex_lock(&mutex);
    assert(told == 0 || told == EOWNERDEAD); // !assertion
    value++;
#ifdef FIXED
    if (told == EOWNERDEAD && pthread_mutex_consistent(&mutex))
        abort();
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t owner;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&owner, NULL, die, NULL);
    pair(go_on, go_on);
    pthread_join(owner, NULL);
    return pthread_mutex_lock(&mutex) == 0 && pthread_mutex_consistent(&mutex) == 0;
}
