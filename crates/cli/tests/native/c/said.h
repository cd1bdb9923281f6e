/* What calls have said, printed; and the ways to wait for a file that are nobody's in particular. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static long say(const char *call, long value) {
    printf("%s %ld %s\n", call, value, value < 0 ? strerrorname_np(errno) : "");
    fflush(stdout);
    return value;
}

static void show(const char *call, const char *bytes, long count) {
    printf("%s %ld %.*s %s\n", call, count, count > 0 && count < 64 ? (int)count : 0, bytes,
           count < 0 ? strerrorname_np(errno) : "");
    fflush(stdout);
}

static void get(int fd, int size, int flags) {
    char bytes[64] = "";
    show("recv", bytes, recv(fd, bytes, size, flags));
}

static void wait_in_group(int fd) {
    struct epoll_event event = {.events = EPOLLIN};
    int one = epoll_create1(0);
    say("epoll_ctl", epoll_ctl(one, EPOLL_CTL_ADD, fd, &event));
    say("epoll_wait", epoll_wait(one, &event, 1, -1));
    close(one);
}

static void wait_in_set(int fd) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    say("select", select(fd + 1, &set, NULL, NULL, NULL));
}
