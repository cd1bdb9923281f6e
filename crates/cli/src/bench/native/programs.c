/* The programs that `raddle bench native` measures: one for each question, by its first argument; the second says how
 * often. A second thread is always there, so that there is something to control. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long count;

/* Plain accesses of one thread: a read and a write each time. */
static int cells[1024];

static void *nothing(void *unused) { return unused; }

static void accesses(void) {
    for (long i = 0; i < count; i++)
        cells[i & 1023]++;
}

/* Two threads and one atomic: every access is a point at which they may be switched. */
static atomic_long shared;

static void *add(void *unused) {
    long often = count;
    for (long i = 0; i < often; i++)
        atomic_fetch_add(&shared, 1);
    return unused;
}

/* Two threads, one lock: a small test as people write it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *step(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

/* Two kernel threads on one processor that hand over to each other by a futex, and how long that takes. */
static atomic_int turn;

static void hand_over(int me) {
    for (long i = 0; i < count; i++) {
        while (atomic_load(&turn) != me)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
        atomic_store(&turn, !me);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static void *other(void *unused) {
    hand_over(1);
    return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, first, NULL) || pthread_create(&threads[1], NULL, second, NULL))
        abort();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    count = argc > 2 ? atol(argv[2]) : 0;
    if (!strcmp(what, "accesses")) {
        both(nothing, nothing);
        accesses();
    } else if (!strcmp(what, "atomics")) {
        both(add, add);
    } else if (!strcmp(what, "atomics-of-one")) {
        both(add, nothing);
    } else if (!strcmp(what, "small")) {
        both(step, step);
    } else if (!strcmp(what, "handoff")) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof one, &one))
            return 2;
        struct timespec begin, end;
        pthread_t thread;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (pthread_create(&thread, NULL, other, NULL))
            return 2;
        hand_over(0);
        pthread_join(thread, NULL);
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("%f\n", ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / (2.0 * count));
    } else {
        fprintf(stderr, "accesses, atomics, atomics-of-one, small or handoff, and a number\n");
        return 2;
    }
    return 0;
}
