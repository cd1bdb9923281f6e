/* Descriptors of several kinds, and threads that do something with them one after the other. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int file, counter, group, listener, fresh, turn, ends[2];
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t length = sizeof(sa_family_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *what, long value) {
    printf("%s %ld %d\n", what, value, value < 0 ? errno : 0);
    fflush(stdout);
}

static int prepare(const char *path) {
    struct epoll_event event = {.events = EPOLLIN};
    file = open(path, O_RDONLY);
    counter = eventfd(0, 0);
    group = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    fresh = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || epoll_ctl(group, EPOLL_CTL_ADD, counter, &event))
        return 2;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4))
        return 3;
    length = sizeof address;
    (void)ends, (void)turn;
    return getsockname(listener, (struct sockaddr *)&address, &length) ? 4 : 0;
}

static int three(void *work(void *)) {
    pthread_t threads[3];
    char *names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, names[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
