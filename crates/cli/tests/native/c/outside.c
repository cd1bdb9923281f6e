/* What comes from outside of the run: from a process that it has made, from a timer. The first argument says what; with a
 * second one it does not come. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *what;
static int comes, ends[2], event, timer;
static sem_t *common, own;
static volatile sig_atomic_t handled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *name) { return !strcmp(what, name); }
static void wrong(const char *why) { fprintf(stderr, "wrong: %s\n", why); _exit(3); }
static void handle(int signal) { handled = signal; }
static void tell(int signal) { handled = signal; if (write(ends[1], "t", 1) != 1) wrong("write"); }
static void post(union sigval value) { (void)value; sem_post(&own); }

static void child(void) {
    usleep(3000);
    if (!comes) _exit(0);
    if (is("stays")) for (;;) pause();
    if (is("common")) sem_post(common);
    else if (is("socket")) { char c; if (read(ends[1], &c, 1) == 1 && write(ends[1], "x", 1) != 1) _exit(1); }
    else if (is("grandchild")) { if (fork()) _exit(0); usleep(3000); if (write(ends[1], "x", 1) != 1) _exit(1); }
    else if (!is("end") && !is("ended") && write(ends[1], "x", 1) != 1) _exit(1);
    _exit(0);
}

static void await(void) {
    char c;
    struct pollfd polls[2] = {{event, POLLIN, 0}, {timer, POLLIN, 0}};
    if (is("end")) { if (comes && read(ends[0], &c, 1) != 0) wrong("no end"); else if (!comes) read(ends[0], &c, 1); }
    else if (is("socket")) { if (write(ends[0], "a", 1) != 1 || read(ends[0], &c, 1) != 1) wrong("socket"); }
    else if (is("poll")) {
        struct pollfd one = {ends[0], POLLIN, 0};
        if (poll(&one, 1, comes ? 60000 : 10) != comes) wrong("poll");
    }
    else if (is("common")) sem_wait(common);
    else if (is("timer")) { if (poll(polls, 2, -1) < 1) wrong("timer"); }
    else if (is("select")) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(event, &set);
        FD_SET(timer, &set);
        if (select(timer + 1, &set, NULL, NULL, NULL) != 1 || !FD_ISSET(timer, &set)) wrong("select");
    }
    else if (is("epoll")) {
        int group = epoll_create1(0);
        struct epoll_event one = {EPOLLIN, {.fd = event}}, found;
        epoll_ctl(group, EPOLL_CTL_ADD, event, &one);
        one.data.fd = timer;
        epoll_ctl(group, EPOLL_CTL_ADD, timer, &one);
        if (epoll_wait(group, &found, 1, -1) != 1 || found.data.fd != timer) wrong("epoll");
    }
    else if (is("pause")) pause();
    else if (is("died")) { while (!handled) pause(); }
    else if (is("sigwait")) {
        sigset_t set;
        int signal;
        sigemptyset(&set);
        sigaddset(&set, SIGALRM);
        if (sigwait(&set, &signal) || signal != SIGALRM) wrong("sigwait");
    }
    else if (is("thread")) sem_wait(&own);
    else if (read(ends[0], &c, 1) != 1) wrong("read");
}

static void *work(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (argument) await();
    return NULL;
}

static void make(void) {
    pid_t made;
    if (is("spawn")) {
        posix_spawn_file_actions_t actions;
        char *arguments[] = {"sh", "-c", comes ? "sleep 0.01; echo" : "sleep 0.01", NULL};
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        if (posix_spawn(&made, "/bin/sh", &actions, NULL, arguments, environ)) wrong("spawn");
        return;
    }
    made = fork();
    if (!made) child();
    if (is("end") && comes) close(ends[1]);
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    struct itimerspec soon = {.it_value = {0, 3000000}};
    struct itimerval soon_too = {.it_value = {0, 3000}};
    what = arguments[1];
    comes = count < 3;
    if (is("socket") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe2(ends, O_CLOEXEC)) return 2;
    event = eventfd(0, 0);
    if (is("timer") || is("select") || is("epoll")) {
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
        if (comes) timerfd_settime(timer, 0, &soon, NULL);
    } else if (is("handler") || is("pause") || is("sigwait")) {
        if (is("sigwait")) { sigset_t set; sigfillset(&set); sigprocmask(SIG_BLOCK, &set, NULL); }
        else signal(SIGALRM, is("handler") ? tell : handle);
        if (comes) setitimer(ITIMER_REAL, &soon_too, NULL);
    } else if (is("thread")) {
        struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = post};
        timer_t made;
        sem_init(&own, 0, 0);
        if (timer_create(CLOCK_MONOTONIC, &how, &made)) return 2;
        if (comes) timer_settime(made, 0, &soon, NULL);
    } else {
        common = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        sem_init(common, 1, 0);
        if (is("died")) signal(SIGCHLD, handle);
        if (!is("died") || comes) make();
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, i ? NULL : &mutex);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
