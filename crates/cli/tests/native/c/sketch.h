/* What the programs made from sketches (sketches.rs) have in common: their objects, and what each task has observed. All of it is part
   of the function that uses it, so that every operation of a program has a place of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HERE static inline __attribute__((always_inline))

/* No program has more tasks, or more values that one of them observes. */
enum { BODIES = 32, VALUES = 64 };

/* How an operation waits, and what came of it: as in the toy front end. */
enum { BLOCK, TRY, TIMED };
enum { DONE, FAILED, TIMED_OUT };

static _Atomic unsigned x, y;
static unsigned cell;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;

static pthread_t threads[BODIES];
static int made[BODIES];
static unsigned observed[BODIES][VALUES];
static unsigned count[BODIES];

HERE unsigned note(int body, unsigned value) { return observed[body][count[body]++] = value; }

HERE void start(int body, void *(*function)(void *)) {
    made[body] = 1;
    if (pthread_create(&threads[body], NULL, function, NULL))
        abort();
}

HERE void join(int body) {
    if (made[body])
        pthread_join(threads[body], NULL);
}

HERE struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 5;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

HERE unsigned status(int error) { return error == 0 ? DONE : error == ETIMEDOUT ? TIMED_OUT : FAILED; }

#define WAYS(block, try, timed)                                                                                        \
    switch (how) {                                                                                                     \
    case BLOCK: return status(block);                                                                                  \
    case TRY: return status(try);                                                                                      \
    default: {                                                                                                         \
        struct timespec until = soon();                                                                                \
        return status(timed);                                                                                          \
    }                                                                                                                  \
    }

HERE unsigned take(pthread_mutex_t *it, int how) {
    WAYS(pthread_mutex_lock(it), pthread_mutex_trylock(it), pthread_mutex_timedlock(it, &until))
}

HERE unsigned take_to_read(int how) {
    WAYS(pthread_rwlock_rdlock(&rwlock), pthread_rwlock_tryrdlock(&rwlock), pthread_rwlock_timedrdlock(&rwlock, &until))
}

HERE unsigned take_to_write(int how) {
    WAYS(pthread_rwlock_wrlock(&rwlock), pthread_rwlock_trywrlock(&rwlock), pthread_rwlock_timedwrlock(&rwlock, &until))
}

HERE int error(int result) { return result ? errno : 0; }

HERE unsigned acquire(int how) {
    WAYS(error(sem_wait(&semaphore)), error(sem_trywait(&semaphore)), error(sem_timedwait(&semaphore, &until)))
}

HERE unsigned await(int how) {
    WAYS(pthread_cond_wait(&condvar, &mutex), EINVAL, pthread_cond_timedwait(&condvar, &mutex, &until))
}

HERE unsigned arrive(void) { return pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD; }

HERE void doze(long nanoseconds) {
    struct timespec time = {0, nanoseconds};
    nanosleep(&time, NULL);
}

HERE unsigned exchange(_Atomic unsigned *it, unsigned expected, unsigned value) {
    atomic_compare_exchange_strong(it, &expected, value);
    return expected;
}

/* One line: what each task has observed, and memory. */
static void tell(const char *file) {
    static char line[BODIES * VALUES];
    int length = 0;
    for (int body = 0; body < BODIES; body++) {
        if (!made[body] && body)
            continue;
        length += sprintf(line + length, "%d:", body);
        for (unsigned value = 0; value < count[body]; value++)
            length += sprintf(line + length, "%u,", observed[body][value]);
        line[length++] = ' ';
    }
    length += sprintf(line + length, "%u %u %u\n", x, y, cell);
    int descriptor = open(file, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (descriptor < 0 || write(descriptor, line, length) != length || close(descriptor))
        abort();
}
