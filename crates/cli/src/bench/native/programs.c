/* The programs that `raddle bench native` measures: one for each question, by its first argument; the second says how
 * often. A second thread is always there, so that there is something to control.
 *
 * What is done often is timed by the program itself, in rounds of which the shortest counts: whatever else the machine
 * does makes the others longer. The processor's own counter tells the time, which nobody makes up under control. It is
 * added to the file that the third argument names. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 40

static long count;

static inline __attribute__((always_inline)) unsigned long ticks(void) {
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (unsigned long)high << 32 | low;
}

static void tell(const char *file, double value) {
    FILE *to = file ? fopen(file, "a") : stdout;
    if (!to)
        abort();
    fprintf(to, "%f\n", value);
    if (file)
        fclose(to);
}

/* Plain accesses of one thread: a read and a write each time. */
static int cells[1024];

static void *nothing(void *unused) { return unused; }

static void accesses(void) {
    long often = count;
    for (long i = 0; i < often; i++)
        cells[i & 1023]++;
}

/* Two threads and one atomic: every access is a point at which they may be switched. One of them takes the time, for all
 * that both have done meanwhile; the other has more to do, so that it is there to the end. */
static atomic_long shared;
static unsigned long thousandths;

static __attribute__((noinline)) void add(long often) {
    for (long i = 0; i < often; i++)
        atomic_fetch_add(&shared, 1);
}

static void *add_on(void *unused) {
    add(2 * ROUNDS * count);
    return unused;
}

/* Whoever calculates with floating-point numbers has marks of that which others have not, and which are kept apart. */
static void *add_and_time(void *unused) {
    thousandths = -1ul;
    for (int round = 0; round < ROUNDS; round++) {
        long before = atomic_load(&shared);
        unsigned long begin = ticks();
        add(count);
        unsigned long took = ticks() - begin;
        unsigned long each = took * 1000 / (atomic_load(&shared) - before);
        thousandths = each < thousandths ? each : thousandths;
    }
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

/* A list of many megabytes that is there before the threads are. */
struct node {
    struct node *next;
    char fill[1000];
};

static struct node *list;

static void fill(void) {
    for (long i = 0; i < count * 1000; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            abort();
        memset(node->fill, (int)i, sizeof node->fill);
        node->next = list;
        list = node;
    }
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

/* Ticks for each access in the shortest round. */
static double shortest(void) {
    unsigned long best = -1ul;
    both(nothing, nothing);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned long begin = ticks();
        accesses();
        unsigned long took = ticks() - begin;
        if (took < best)
            best = took;
    }
    return (double)best / (double)count;
}

static double nanoseconds(struct timespec begin, struct timespec end) {
    return (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec);
}

/* Ticks in a nanosecond. */
static double pace(void) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    unsigned long first = ticks();
    do
        clock_gettime(CLOCK_MONOTONIC, &end);
    while (nanoseconds(begin, end) < 5e7);
    return (double)(ticks() - first) / nanoseconds(begin, end);
}

/* Nanoseconds for each hand-over, in the shortest round. */
static double handoff(void) {
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        pthread_t thread;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (pthread_create(&thread, NULL, other, NULL))
            abort();
        hand_over(0);
        pthread_join(thread, NULL);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took = nanoseconds(begin, end) / (2.0 * count);
        best = took < best ? took : best;
    }
    return best;
}

/* Nanoseconds for a copy of this process that ends at once, in the shortest round. */
static double forks(void) {
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (long i = 0; i < count; i++) {
            pid_t copy = fork();
            if (copy == 0)
                _exit(0);
            if (waitpid(copy, NULL, 0) != copy)
                abort();
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took = nanoseconds(begin, end) / (double)count;
        best = took < best ? took : best;
    }
    return best;
}

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER, common = PTHREAD_MUTEX_INITIALIZER;
static long sections;

static void *some(void *argument) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&common);
        sections++;
        pthread_mutex_unlock(&common);
    }
    return argument;
}

/* Main does a lot by itself, and only then is there anything to choose. */
static void prefix(void) {
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&alone);
        sections++;
        pthread_mutex_unlock(&alone);
    }
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, some, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const char *file = argc > 3 ? argv[3] : NULL;
    count = argc > 2 ? atol(argv[2]) : 0;
    if (!strcmp(what, "accesses")) {
        tell(file, shortest());
    } else if (!strcmp(what, "atomics") || !strcmp(what, "atomics-of-one")) {
        both(add_and_time, strcmp(what, "atomics") ? nothing : add_on);
        tell(file, thousandths / 1e3);
    } else if (!strcmp(what, "small")) {
        both(step, step);
    } else if (!strcmp(what, "heap")) {
        fill();
        both(step, step);
    } else if (!strcmp(what, "prefix")) {
        prefix();
    } else if (!strcmp(what, "pace")) {
        tell(file, pace());
    } else if (!strcmp(what, "handoff") || !strcmp(what, "forks")) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof one, &one))
            return 2;
        tell(file, what[0] == 'h' ? handoff() : forks());
    } else {
        fprintf(stderr, "accesses, atomics, atomics-of-one, small, heap, pace, handoff or forks, and a number\n");
        return 2;
    }
    return 0;
}
