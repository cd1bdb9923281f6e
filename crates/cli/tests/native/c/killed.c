/* A thread ends the process by a signal that it sends itself, unless the other has set a variable before. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int is_over;
static int ends[2];
static const char *how;

static void *kills(void *unused) {
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (is_over) return unused;
    if (!strcmp(how, "raise")) raise(SIGTERM);
    if (!strcmp(how, "segv")) raise(SIGSEGV);
    if (!strcmp(how, "kill")) kill(getpid(), SIGINT);
    if (!strcmp(how, "sure")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "queue")) sigqueue(getpid(), SIGUSR2, (union sigval){0});
    if (!strcmp(how, "thread")) pthread_kill(pthread_self(), SIGUSR1);
    if (!strcmp(how, "number")) tgkill(getpid(), gettid(), SIGTERM);
    if (!strcmp(how, "call")) syscall(SYS_tgkill, getpid(), gettid(), SIGTERM);
    if (!strcmp(how, "again")) raise(SIGPIPE);
    if (!strcmp(how, "write") || !strcmp(how, "ignored")) write(ends[1], "x", 1);
    if (!strcmp(how, "writev")) writev(ends[1], &part, 1);
    if (!strcmp(how, "send")) send(ends[1], "x", 1, 0);
    if (!strcmp(how, "sendmsg")) sendmsg(ends[1], &message, 0);
    if (!strcmp(how, "quietly")) send(ends[1], "x", 1, MSG_NOSIGNAL);
    if (!strcmp(how, "spared")) raise(SIGWINCH);
    if (!strcmp(how, "stream")) {
        FILE *stream = fdopen(ends[1], "w");
        fputs("x", stream);
        fflush(stream);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    struct sigaction before;
    how = argv[argc - 1];
    int is_socket = !strncmp(how, "send", 4) || !strcmp(how, "quietly");
    if (is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) return 2;
    if (!strcmp(how, "ignored")) signal(SIGPIPE, SIG_IGN);
    if (!strcmp(how, "again")) signal(SIGPIPE, SIG_DFL);
    if (sigaction(SIGPIPE, NULL, &before)) return 3;
    if (before.sa_handler != (strcmp(how, "ignored") ? SIG_DFL : SIG_IGN)) return 4;
    close(ends[0]);
    pthread_create(&thread, NULL, kills, NULL);
    is_over = 1;
    pthread_join(thread, NULL);
    return 0;
}
