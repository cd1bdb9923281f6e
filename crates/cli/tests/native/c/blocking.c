/* A call that waits: for a thread of the same program (peer), or as all others do (both). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>
#include <unistd.h>

static int ends[2], pair[2], event, group, listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t length = sizeof(sa_family_t);
static sem_t permits;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static mtx_t mtx;
static cnd_t cnd;
static atomic_uint word;
static atomic_int handled;
static int ready, full;
static pthread_t first;
static sigset_t signals;
static char block[65536], sink[65536];

static void need(int right) {
    if (!right) {
        perror("blocking");
        abort();
    }
}

static void handle(int signal) {
    (void)signal;
    handled++;
}

/* Each call: what makes ready, what waits, what lets it go on. */
static void pipes(void) { need(pipe(ends) == 0); }
static void sockets(void) { need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0); }
static void put(void) { need(write(ends[1], "x", 1) == 1); }
static void give(void) { need(write(pair[1], "x", 1) == 1); }

static void read_(void) {
    char byte;
    need(read(ends[0], &byte, 1) == 1);
}
static void dups(void) {
    pipes();
    int other = dup(ends[0]);
    close(ends[0]);
    ends[0] = fcntl(other, F_DUPFD_CLOEXEC, 20);
    need(ends[0] >= 20);
    ends[1] = dup2(ends[1], 30);
}
static void readv_(void) {
    char byte;
    struct iovec part = {&byte, 1};
    need(readv(ends[0], &part, 1) == 1);
}
static void fill(void) {
    pipes();
    full = 1;
    need(write(ends[1], block, sizeof block) == sizeof block);
}
static void write_(void) { need(write(ends[1], block, 4096) == 4096); }
static void writev_(void) {
    struct iovec part = {block, 4096};
    need(writev(ends[1], &part, 1) == 4096);
}
static void drain(void) { need(read(ends[0], sink, sizeof sink) > 0); }
static void poll_(void) {
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    need(poll(&one, 1, -1) == 1);
}
static void ppoll_(void) {
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    need(ppoll(&one, 1, NULL, NULL) == 1);
}
static void select_(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    need(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1);
}
static void pselect_(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    need(pselect(ends[0] + 1, &set, NULL, NULL, NULL, NULL) == 1);
}
static void groups(void) {
    struct epoll_event wanted = {.events = EPOLLIN};
    pipes();
    group = epoll_create1(0);
    need(epoll_ctl(group, EPOLL_CTL_ADD, ends[0], &wanted) == 0);
}
static void epoll_(void) {
    struct epoll_event found;
    need(epoll_wait(group, &found, 1, -1) == 1);
}
static void epoll_p(void) {
    struct epoll_event found;
    need(epoll_pwait(group, &found, 1, -1, NULL) == 1);
}
static void listens(void) {
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    need(bind(listener, (struct sockaddr *)&address, length) == 0);
    length = sizeof address;
    need(getsockname(listener, (struct sockaddr *)&address, &length) == 0 && listen(listener, 0) == 0);
}
static void connect_(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    need(connect(fd, (struct sockaddr *)&address, length) == 0);
}
static void accept_(void) { need(accept(listener, NULL, NULL) >= 0); }
static void accept4_(void) { need(accept4(listener, NULL, NULL, SOCK_CLOEXEC) >= 0); }
static void queued(void) {
    listens();
    connect_();
}
static void recv_(void) {
    char byte;
    need(recv(pair[0], &byte, 1, 0) == 1);
}
static void recv_end(void) {
    char byte;
    need(recv(pair[0], &byte, 1, 0) == 0);
}
static void shut(void) { need(shutdown(pair[1], SHUT_WR) == 0); }
static void read_end(void) {
    char byte;
    while (read(ends[0], &byte, 1) > 0)
        ;
}
static void close_stream(void) {
    FILE *stream = fdopen(ends[1], "w");
    need(stream && fputs("x", stream) >= 0 && fclose(stream) == 0);
}
static void recvfrom_(void) {
    char byte;
    need(recvfrom(pair[0], &byte, 1, 0, NULL, NULL) == 1);
}
static void recvmsg_(void) {
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    need(recvmsg(pair[0], &message, 0) == 1);
}
static void stuffed(void) {
    sockets();
    while (send(pair[1], block, sizeof block, MSG_DONTWAIT) > 0)
        ;
}
static void send_(void) { need(send(pair[1], block, 4096, 0) == 4096); }
static void sendto_(void) { need(sendto(pair[1], block, 4096, 0, NULL, 0) == 4096); }
static void sendmsg_(void) {
    struct iovec part = {block, 4096};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    need(sendmsg(pair[1], &message, 0) > 0);
}
static void receive(void) {
    while (recv(pair[0], sink, sizeof sink, MSG_DONTWAIT) > 0)
        ;
}
static void events(void) { event = eventfd(0, 0); }
static void event_read(void) {
    eventfd_t value;
    need(eventfd_read(event, &value) == 0);
}
static void event_add(void) { need(eventfd_write(event, 1) == 0); }
static void event_full(void) { event = eventfd(0, 0), event_add(), need(eventfd_write(event, 0xfffffffffffffffdull) == 0); }
static void semaphores(void) { sem_init(&permits, 0, 0); }
static void sem_wait_(void) { sem_wait(&permits); }
static void sem_post_(void) { sem_post(&permits); }
static void named(void) { }
static void futex_(void) {
    while (word == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static void futex_wake(void) {
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
/* Who waits is told to wait elsewhere, and woken there. */
static void futex_move(void) {
    static _Atomic int elsewhere;
    word = 1;
    syscall(SYS_futex, &word, FUTEX_REQUEUE_PRIVATE, 0, (void *)1, &elsewhere, 0);
    syscall(SYS_futex, &elsewhere, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static void barriers(void) { pthread_barrier_init(&barrier, NULL, 2); }
static void barriers3(void) { pthread_barrier_init(&barrier, NULL, 3); }
static void barrier_(void) { pthread_barrier_wait(&barrier); }
static void cond_(void) {
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}
static void notify(void) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}
static void cnds(void) { mtx_init(&mtx, mtx_plain), cnd_init(&cnd); }
static void cnd_(void) {
    mtx_lock(&mtx);
    while (!ready)
        cnd_wait(&cnd, &mtx);
    mtx_unlock(&mtx);
}
static void cnd_notify(void) {
    mtx_lock(&mtx);
    ready = 1;
    cnd_broadcast(&cnd);
    mtx_unlock(&mtx);
}
/* A thread that takes a lock and waits for a permit before it gives it back; the one who waits for the lock posts. */
static void lock_held(void) { semaphores(), pthread_mutex_lock(&mutex); }
static void lock_(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}
static void read_held(void) { pthread_rwlock_wrlock(&rwlock); }
static void write_held(void) { pthread_rwlock_rdlock(&rwlock); }
static void rdlock(void) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}
static void wrlock(void) {
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}
static void block_signals(void) {
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    need(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
}
static void sigwait_(void) {
    int signal;
    need(sigwait(&signals, &signal) == 0 && signal == SIGUSR1);
}
static void sigwaitinfo_(void) { need(sigwaitinfo(&signals, NULL) == SIGUSR1); }
static void signal_first(void) { need(pthread_kill(first, SIGUSR1) == 0); }
static void signal_all(void) { need(kill(getpid(), SIGUSR1) == 0); }
static void handler(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    block_signals();
}
static void sigsuspend_(void) {
    sigset_t none;
    sigemptyset(&none);
    need(sigsuspend(&none) == -1 && errno == EINTR && handled == 1);
}
static void plain_handler(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
}
static void pause_(void) {
    /* The signal may come before; then nobody sends another. */
    while (!handled)
        pause();
}
static void keep_signalling(void) {
    while (!handled) {
        pthread_kill(first, SIGUSR1);
        sched_yield();
    }
}
/* A handler runs in a thread that waits for something else, which goes on waiting. */
static void post_in_handler(int signal) {
    (void)signal;
    sem_post(&permits);
}
static void handler_posts(void) {
    struct sigaction action = {.sa_handler = post_in_handler, .sa_flags = SA_RESTART};
    semaphores();
    sigaction(SIGUSR1, &action, NULL);
}
static void run_once(void) { sem_wait(&permits); }
static void once_(void) { pthread_once(&once, run_once); }
static void sleeps(void) { usleep(1000); }

static const struct {
    const char *name;
    void (*prepare)(void), (*wait)(void), (*release)(void);
} calls[] = {
    {"read", pipes, read_, put},
    {"dup", dups, read_, put},
    {"readv", pipes, readv_, put},
    {"write", fill, write_, drain},
    {"writev", fill, writev_, drain},
    {"poll", pipes, poll_, put},
    {"ppoll", pipes, ppoll_, put},
    {"select", pipes, select_, put},
    {"pselect", pipes, pselect_, put},
    {"epoll_wait", groups, epoll_, put},
    {"epoll_pwait", groups, epoll_p, put},
    {"accept", listens, accept_, connect_},
    {"accept4", listens, accept4_, connect_},
    {"connect", queued, connect_, accept_},
    {"recv", sockets, recv_, give},
    {"recvfrom", sockets, recvfrom_, give},
    {"shutdown", sockets, recv_end, shut},
    {"fclose", pipes, read_end, close_stream},
    {"recvmsg", sockets, recvmsg_, give},
    {"send", stuffed, send_, receive},
    {"sendto", stuffed, sendto_, receive},
    {"sendmsg", stuffed, sendmsg_, receive},
    {"eventfd_read", events, event_read, event_add},
    {"eventfd_write", event_full, event_add, event_read},
    {"sem_wait", semaphores, sem_wait_, sem_post_},
    {"futex", named, futex_, futex_wake},
    {"futex_requeue", named, futex_, futex_move},
    {"barrier", barriers, barrier_, barrier_},
    {"barrier3", barriers3, barrier_, barrier_},
    {"cond_wait", named, cond_, notify},
    {"cnd_wait", cnds, cnd_, cnd_notify},
    {"mutex_lock", lock_held, lock_, NULL},
    {"rwlock_rdlock", read_held, rdlock, NULL},
    {"rwlock_wrlock", write_held, wrlock, NULL},
    {"sigwait", block_signals, sigwait_, signal_first},
    {"sigwait_process", block_signals, sigwait_, signal_all},
    {"sigwaitinfo", block_signals, sigwaitinfo_, signal_first},
    {"sigsuspend", handler, sigsuspend_, signal_first},
    {"pause", plain_handler, pause_, keep_signalling},
    {"handler", handler_posts, sem_wait_, signal_first},
    {"once", semaphores, once_, sem_post_},
    {"sleep", named, sleeps, sleeps},
};

static void (*release)(void), (*wait_)(void);

static void *waits(void *unused) {
    sched_yield();
    wait_();
    return unused;
}

static void *releases(void *unused) {
    sched_yield();
    release();
    return unused;
}

int main(int argc, char **argv) {
    int both = argc > 2 && !strcmp(argv[2], "both");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (argc < 2) {
            puts(calls[i].name);
            continue;
        }
        if (strcmp(calls[i].name, argv[1]))
            continue;
        pthread_t second;
        wait_ = calls[i].wait;
        release = both ? wait_ : calls[i].release;
        calls[i].prepare();
        need(pthread_create(&first, NULL, waits, NULL) == 0);
        if (release == NULL) {
            /* Main holds the lock. */
            sched_yield();
            if (i && !strncmp(argv[1], "rwlock", 6))
                pthread_rwlock_unlock(&rwlock);
            else
                pthread_mutex_unlock(&mutex);
            pthread_join(first, NULL);
            return 0;
        }
        need(pthread_create(&second, NULL, releases, NULL) == 0);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        return 0;
    }
    return argc >= 2;
}
