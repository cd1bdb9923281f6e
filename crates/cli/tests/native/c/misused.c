/* What is done to a mutex that is destroyed, or when it is. The argument says what. */
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;

static void *holds(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_rwlock_rdlock(&shared);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, holds, NULL);
    pthread_barrier_wait(&both);
    if (!strcmp(what, "held"))
        pthread_mutex_destroy(&lock);
    if (!strcmp(what, "read"))
        pthread_rwlock_destroy(&shared);
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&lock);
    pthread_mutex_destroy(&lock);
    if (!strcmp(what, "lock"))
        pthread_mutex_lock(&lock);
    if (!strcmp(what, "try"))
        pthread_mutex_trylock(&lock);
    if (!strcmp(what, "unlock"))
        pthread_mutex_unlock(&lock);
    if (!strcmp(what, "wait"))
        pthread_cond_wait(&condition, &lock);
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    return 0;
}
