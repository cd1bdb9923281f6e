/* Small programs whose exit code tells in which order their threads did what they did, by a name each: what a sampler
   shows in a few thousand runs, a search that says it has seen everything must have seen. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER, own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t threads[2], first_thread;
static int stage, seen = 9, got[2];

static int add(int more) {
    pthread_mutex_lock(&common);
    int now = stage += more;
    pthread_mutex_unlock(&common);
    return now;
}

/* A scheduling point that has nothing to do with the other thread. */
static void step(int me) {
    pthread_mutex_lock(&own[me]);
    pthread_mutex_unlock(&own[me]);
}

static void begin(int count, void *(*work)(void *)) {
    static int numbers[2] = {0, 1};
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, work, &numbers[i]);
}

static void end(int count) {
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void look(int signal) {
    (void)signal;
    seen = stage;
}

/* Cancellation. */
static void *tests(void *unused) {
    for (int i = 0; i < 3; i++) {
        add(1);
        pthread_testcancel();
    }
    return unused;
}
static int cancel_point(void) {
    begin(1, tests);
    pthread_cancel(threads[0]);
    end(1);
    return stage;
}

static void *refuses(void *unused) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    add(1);
    pthread_testcancel();
    add(1);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    pthread_testcancel();
    add(1);
    return unused;
}
static int cancel_state(void) {
    begin(1, refuses);
    add(10);
    pthread_cancel(threads[0]);
    end(1);
    return stage;
}

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }
static void *waits(void *number) {
    if (*(int *)number == 1) {
        pthread_mutex_lock(&common);
        stage = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&common);
        return NULL;
    }
    pthread_mutex_lock(&common);
    pthread_cleanup_push(unlock, &common);
    while (!stage) pthread_cond_wait(&condition, &common);
    seen = 1;
    pthread_cleanup_pop(1);
    return NULL;
}
static int cancel_wait(void) {
    seen = 0;
    begin(2, waits);
    pthread_cancel(threads[0]);
    end(2);
    return seen;
}

/* Signals. */
static void *adds(void *unused) {
    for (int i = 0; i < 3; i++) add(1);
    return unused;
}
static int signal_handled(void) {
    signal(SIGUSR1, look);
    begin(1, adds);
    pthread_kill(threads[0], SIGUSR1);
    end(1);
    return seen;
}

static void *masks(void *unused) {
    sigset_t all, pending;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    add(1);
    sigpending(&pending);
    if (sigismember(&pending, SIGUSR1)) add(10);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    add(1);
    return unused;
}
static int signal_masked(void) {
    signal(SIGUSR1, look);
    begin(1, masks);
    pthread_kill(threads[0], SIGUSR1);
    end(1);
    return seen * 16 + stage;
}

static void *takes(void *number) {
    sigset_t set;
    int signal;
    if (*(int *)number == 1) {
        add(2);
        pthread_kill(threads[0], SIGUSR2);
        return NULL;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &signal);
    seen = (signal == SIGUSR1) * 4 + add(1);
    sigwait(&set, &signal);
    return NULL;
}
static int signal_waited(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    begin(2, takes);
    pthread_kill(threads[0], SIGUSR1);
    end(2);
    return seen;
}

static void who(int signal) { seen = pthread_equal(pthread_self(), threads[0]) ? signal : 2; }
static void *steps(void *number) {
    step(*(int *)number);
    step(*(int *)number);
    return NULL;
}
static int signal_anybody(void) {
    sigset_t all;
    signal(SIGUSR1, who);
    begin(2, steps);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    kill(getpid(), SIGUSR1);
    end(2);
    return seen;
}

static sem_t semaphore;
static void posts(int signal) {
    (void)signal;
    sem_post(&semaphore);
}
static void *waits_or_sends(void *number) {
    if (*(int *)number == 1) {
        pthread_kill(first_thread, SIGUSR1);
        return NULL;
    }
    sem_wait(&semaphore);
    return NULL;
}
static int signal_to_waiter(void) {
    sem_init(&semaphore, 0, 0);
    first_thread = pthread_self();
    signal(SIGUSR1, posts);
    begin(2, waits_or_sends);
    end(2);
    return 0;
}

static void *handles(void *unused) {
    step(0);
    signal(SIGUSR1, look);
    return unused;
}
static void other(int signal) { seen = signal; }
static int signal_action(void) {
    signal(SIGUSR1, other);
    begin(1, handles);
    step(1);
    raise(SIGUSR1);
    end(1);
    return seen;
}

static void *one_step(void *number) {
    step(*(int *)number);
    return NULL;
}
static int signal_nobody(void) {
    begin(1, one_step);
    usleep(1);
    int gone = pthread_kill(threads[0], 0) != 0;
    end(1);
    return gone;
}

/* Files that the run makes. */
static int ends[2];
static void *writes(void *number) {
    return (void *)write(ends[1], *(int *)number ? "b" : "a", 1);
}
static int pipe_order(void) {
    char bytes[2];
    if (pipe(ends)) return 1;
    begin(2, writes);
    if (read(ends[0], bytes, 1) + read(ends[0], bytes + 1, 1) != 2) return 1;
    end(2);
    return bytes[0] == 'a' ? 2 : 3;
}
static int pipe_poll(void) {
    if (pipe(ends)) return 1;
    begin(1, writes);
    struct pollfd wanted = {ends[0], POLLIN, 0};
    int at_once = poll(&wanted, 1, 0), in_time = poll(&wanted, 1, 5);
    end(1);
    return at_once + 2 * in_time;
}
static int both[2][2];
static void *writes_one(void *number) {
    return (void *)write(both[*(int *)number][1], "x", 1);
}
static int pipe_several(void) {
    if (pipe(both[0]) || pipe(both[1])) return 1;
    begin(2, writes_one);
    struct pollfd wanted[2] = {{both[0][0], POLLIN, 0}, {both[1][0], POLLIN, 0}};
    int ready = poll(wanted, 2, -1);
    end(2);
    return ready + 4 * !!wanted[0].revents + 8 * !!wanted[1].revents;
}
static int pipe_three(void) {
    int third[2];
    if (pipe(both[0]) || pipe(both[1]) || pipe(third)) return 1;
    begin(2, writes_one);
    struct pollfd wanted[3] = {{both[0][0], POLLIN, 0}, {third[0], POLLIN, 0}, {both[1][0], POLLIN, 0}};
    int ready = poll(wanted, 3, -1);
    end(2);
    return ready + 4 * !!wanted[0].revents + 8 * !!wanted[2].revents;
}
static int group, counter;
static void *waits_in_group(void *number) {
    struct epoll_event ready;
    uint64_t value;
    epoll_wait(group, &ready, 1, -1);
    got[*(int *)number] = read(counter, &value, 8) == 8;
    value = 1;
    return (void *)write(counter, &value, 8);
}
static int group_both(void) {
    struct epoll_event wanted = {.events = EPOLLIN};
    uint64_t value = 1;
    group = epoll_create1(0);
    counter = eventfd(0, EFD_NONBLOCK);
    if (epoll_ctl(group, EPOLL_CTL_ADD, counter, &wanted)) return 1;
    begin(2, waits_in_group);
    if (write(counter, &value, 8) != 8) return 1;
    end(2);
    return got[0] + 2 * got[1];
}
static void *writes_late(void *unused) {
    got[0] = write(ends[1], "x", 1);
    return unused;
}
static void *writes_after_step(void *unused) {
    step(0);
    return writes_late(unused);
}
static int pipe_closed(void) {
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends)) return 1;
    begin(1, writes_after_step);
    close(ends[1]);
    end(1);
    return got[0] == 1 ? 2 : 3;
}
static int pipe_renamed(void) {
    int other[2];
    if (pipe(ends) || pipe(other)) return 1;
    begin(1, writes_after_step);
    dup2(other[1], ends[1]);
    end(1);
    struct pollfd first = {.fd = ends[0], .events = POLLIN};
    return poll(&first, 1, 0) == 1 && first.revents & POLLIN ? 2 : 3;
}
static int pipe_asked(void) {
    int waiting = 0;
    if (pipe(ends)) return 1;
    begin(1, writes_after_step);
    ioctl(ends[0], FIONREAD, &waiting);
    end(1);
    return waiting;
}
static void *sets_flags(void *unused) {
    step(0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    write(ends[1], "x", 1);
    return unused;
}
static int pipe_flags(void) {
    char byte;
    if (pipe(ends)) return 1;
    begin(1, sets_flags);
    int found = read(ends[0], &byte, 1);
    end(1);
    return found == 1 ? 2 : 3;
}
static void *writes_stream(void *unused) {
    FILE *out = fdopen(ends[1], "w");
    step(0);
    fputs("x", out);
    fclose(out);
    return unused;
}
static int pipe_stream(void) {
    if (pipe2(ends, O_NONBLOCK)) return 1;
    begin(1, writes_stream);
    char byte;
    int found = read(ends[0], &byte, 1);
    end(1);
    return found + 2;
}
static FILE *stream;
static void *reads_locked(void *unused) {
    step(0);
    flockfile(stream);
    got[0] = getc_unlocked(stream);
    funlockfile(stream);
    return unused;
}
static int stream_locked(void) {
    if (pipe(ends) || write(ends[1], "ab", 2) != 2) return 1;
    stream = fdopen(ends[0], "r");
    begin(1, reads_locked);
    step(1);
    ungetc('c', stream);
    end(1);
    return got[0] - 'a' + 2;
}
static void *receives(void *unused) {
    char byte;
    step(0);
    got[0] = recv(ends[0], &byte, 1, MSG_DONTWAIT);
    return unused;
}
static int socket_shut(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    begin(1, receives);
    shutdown(ends[1], SHUT_WR);
    end(1);
    return got[0] + 2;
}
static int pipe_close(void) {
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends)) return 1;
    begin(1, writes_late);
    close(ends[0]);
    end(1);
    return got[0] == 1;
}

/* Time. */
static _Atomic int word;
static void *waits_for_word(void *unused) {
    struct timespec limit = {1, 0};
    got[0] = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) == 0;
    return unused;
}
static int futex_limit(void) {
    begin(1, waits_for_word);
    int woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    end(1);
    return 2 * got[0] + woken;
}
static _Atomic int elsewhere;
static int moves(int wake, int move, int expected) {
    return syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, wake, (void *)(long)move, &elsewhere, expected);
}
static int futex_moved(void) {
    begin(1, waits_for_word);
    int met = moves(0, 1, 0), refused = moves(0, 1, 1);
    int woken = syscall(SYS_futex, &elsewhere, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    end(1);
    return refused == -1 ? met + 2 * woken + 4 * got[0] : 98;
}
static void *waits_to_be_chosen(void *number) {
    got[*(int *)number] = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) == 0 ? add(1) : 0;
    return NULL;
}
static int futex_chosen(void) {
    begin(2, waits_to_be_chosen);
    atomic_store(&word, 1);
    int met = moves(1, 1, 1);
    syscall(SYS_futex, &elsewhere, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    end(2);
    return met + 3 * got[0] + 9 * got[1];
}
static void *gives(void *unused) {
    add(1);
    sem_post(&semaphore);
    return unused;
}
static int semaphore_limit(void) {
    struct timespec limit;
    int left;
    sem_init(&semaphore, 0, 0);
    begin(1, gives);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    int late = sem_timedwait(&semaphore, &limit) != 0;
    sem_getvalue(&semaphore, &left);
    int now = add(0);
    end(1);
    return late + 2 * now + 4 * left;
}
static int join_try(void) {
    begin(1, one_step);
    int busy = pthread_tryjoin_np(threads[0], NULL) == EBUSY;
    if (busy) end(1);
    return busy;
}

/* What threads have in common besides. */
static char name[] = "/tmp/raddle-orders-XXXXXX";
static int file;
static FILE *stream;
static pthread_key_t keys[2];

static void *by_name(void *number) {
    step(*(int *)number);
    if (*(int *)number) unlink(name);
    else got[0] = access(name, F_OK) == 0;
    return NULL;
}
static int file_names(void) {
    file = mkstemp(name);
    begin(2, by_name);
    end(2);
    return got[0];
}
static void *by_position(void *number) {
    step(*(int *)number);
    if (*(int *)number) lseek(file, 3, SEEK_SET);
    else got[0] = lseek(file, 0, SEEK_CUR);
    return NULL;
}
static int file_position(void) {
    file = fileno(tmpfile());
    begin(2, by_position);
    end(2);
    return got[0];
}
static void *puts_one(void *number) {
    step(*(int *)number);
    fputs(*(int *)number ? "b" : "a", stream);
    return NULL;
}
static int stream_order(void) {
    stream = tmpfile();
    begin(2, puts_one);
    end(2);
    rewind(stream);
    return fgetc(stream) == 'a';
}
static void *opens(void *number) {
    step(*(int *)number);
    got[*(int *)number] = open("/dev/null", O_RDONLY);
    return NULL;
}
static int file_numbers(void) {
    begin(2, opens);
    end(2);
    return got[0] < got[1];
}
static void *makes_key(void *number) {
    step(*(int *)number);
    pthread_key_create(&keys[*(int *)number], NULL);
    return NULL;
}
static int key_numbers(void) {
    begin(2, makes_key);
    end(2);
    return keys[0] < keys[1];
}
static void *sets(void *number) {
    step(*(int *)number);
    if (*(int *)number) setenv("RADDLE_ORDER", "1", 1);
    else got[0] = getenv("RADDLE_ORDER") != NULL;
    return NULL;
}
static int environment(void) {
    begin(2, sets);
    end(2);
    return got[0];
}
static void *draws(void *number) {
    step(*(int *)number);
    got[*(int *)number] = rand();
    return NULL;
}
static int random_numbers(void) {
    begin(2, draws);
    end(2);
    return got[0] < got[1];
}
static void *is_named(void *unused) {
    step(0);
    pthread_setname_np(pthread_self(), "x");
    return unused;
}
static int thread_name(void) {
    char is[16];
    begin(1, is_named);
    step(1);
    pthread_getname_np(threads[0], is, sizeof is);
    end(1);
    return is[0] == 'x';
}

/* In order: each thread has what it uses to itself, or main after it has waited for the other. */
static void *keeps_to_itself(void *number) {
    char text[2] = {'a' + *(int *)number, 0};
    FILE *mine = fopen("/dev/null", "r");
    step(*(int *)number);
    if (getenv("HOME")) text[0]++;
    fclose(mine);
    return NULL;
}
static int nothing_hidden(void) {
    begin(1, keeps_to_itself);
    step(1);
    end(1);
    begin(1, keeps_to_itself);
    step(1);
    end(1);
    setenv("RADDLE_ORDER", "1", 1);
    return fopen("/dev/null", "r") == NULL;
}

/* A copy of the process has what the other thread has done by then. */
static void *adds_once(void *unused) {
    add(1);
    return unused;
}
static int process_copy(void) {
    int status;
    begin(1, adds_once);
    step(0);
    pid_t copy = fork();
    if (!copy) _exit(stage);
    waitpid(copy, &status, 0);
    end(1);
    return WEXITSTATUS(status);
}

/* A part of an atomic is an atomic, too. */
static union {
    _Atomic uint64_t all;
    _Atomic uint32_t parts[2];
} halves;
static void *stores_all(void *unused) {
    atomic_store(&halves.all, 1ull << 32);
    return unused;
}
static int atomic_half(void) {
    begin(1, stores_all);
    int found = atomic_load(&halves.parts[1]);
    end(1);
    return found;
}
static void *stores_half(void *unused) {
    atomic_store(&halves.parts[1], 1);
    return unused;
}
static int atomic_whole(void) {
    begin(1, stores_half);
    int found = atomic_load(&halves.all) >> 32;
    end(1);
    return found;
}

/* A version beside a pointer: both are exchanged at once, and looked at one by one. */
struct tagged {
    uint64_t pointer, version;
};
static union {
    _Atomic struct tagged both;
    _Atomic uint64_t parts[2];
} top;
static void *exchanges(void *unused) {
    struct tagged old = {0, 0}, new = {1, 1};
    atomic_compare_exchange_strong(&top.both, &old, new);
    return unused;
}
static int atomic_version(void) {
    begin(1, exchanges);
    int version = atomic_load(&top.parts[1]);
    end(1);
    return version;
}

/* The half of an atomic after another half, and all of it after both. */
static void *adds_version(void *unused) {
    atomic_fetch_add(&top.parts[1], 1);
    return unused;
}
static int atomic_again(void) {
    struct tagged new = {2, 2};
    begin(1, adds_version);
    atomic_fetch_add(&top.parts[0], 1);
    int version = atomic_exchange(&top.both, new).version;
    end(1);
    return version;
}
static union {
    _Atomic struct tagged both;
    _Atomic uint32_t parts[4];
} quarters;
static void *adds_to_quarter(void *number) {
    atomic_fetch_add(&quarters.parts[*(int *)number * 2 + 1], 1);
    return NULL;
}
static int atomic_quarters(void) {
    struct tagged new = {2, 2};
    begin(2, adds_to_quarter);
    struct tagged old = atomic_exchange(&quarters.both, new);
    end(2);
    return !!old.pointer + 2 * !!old.version;
}

/* The kernel looks at the word that is waited for, whoever has written it and how. */
static int plain_word;
static void *waits_for_plain_word(void *unused) {
    struct timespec limit = {0, 5};
    step(0);
    got[0] = syscall(SYS_futex, &plain_word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) ? errno == EAGAIN : 2;
    return unused;
}
static int futex_plain(void) {
    begin(1, waits_for_plain_word);
    step(1);
    plain_word = 1;
    end(1);
    return got[0];
}

/* Who waits for a half is woken by who has stored all of it, or comes too late to wait. */
static void *waits_for_half(void *unused) {
    got[0] = syscall(SYS_futex, &halves.parts[1], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) == -1;
    return unused;
}
static int futex_half(void) {
    begin(1, waits_for_half);
    atomic_store(&halves.all, 1ull << 32);
    syscall(SYS_futex, &halves.parts[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    end(1);
    return got[0];
}

static const struct {
    const char *name;
    int (*run)(void);
} programs[] = {
#define PROGRAM(name) {#name, name}
    PROGRAM(cancel_point),   PROGRAM(cancel_state),    PROGRAM(cancel_wait),      PROGRAM(signal_handled), PROGRAM(signal_masked),
    PROGRAM(signal_waited),  PROGRAM(signal_anybody),  PROGRAM(signal_to_waiter), PROGRAM(signal_action),  PROGRAM(signal_nobody),
    PROGRAM(pipe_order),     PROGRAM(pipe_poll),       PROGRAM(pipe_close),       PROGRAM(futex_limit),    PROGRAM(semaphore_limit),
    PROGRAM(join_try),       PROGRAM(file_names),      PROGRAM(file_position),    PROGRAM(stream_order),   PROGRAM(file_numbers),
    PROGRAM(key_numbers),    PROGRAM(environment),     PROGRAM(random_numbers),   PROGRAM(thread_name),    PROGRAM(nothing_hidden),
    PROGRAM(pipe_several),   PROGRAM(pipe_three),      PROGRAM(group_both),       PROGRAM(process_copy),
    PROGRAM(atomic_half),    PROGRAM(atomic_whole),    PROGRAM(atomic_version),   PROGRAM(futex_half),
    PROGRAM(atomic_again),   PROGRAM(atomic_quarters), PROGRAM(futex_plain),      PROGRAM(pipe_closed),    PROGRAM(pipe_renamed),
    PROGRAM(futex_moved),    PROGRAM(futex_chosen),    PROGRAM(pipe_asked),     PROGRAM(pipe_flags),      PROGRAM(pipe_stream),      PROGRAM(socket_shut),    PROGRAM(stream_locked),
};

int main(int count, char **arguments) {
    for (size_t i = 0; count > 1 && i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].name, arguments[1])) return programs[i].run();
    return 99;
}
