/* A server and its clients, connected through a name that the program has made up itself. What each call says is printed.
 * The argument says what else is done with these sockets. */
#define _GNU_SOURCE
#include "said.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int listener, group, pipes[2], what, clients = 1, small;
static struct sockaddr_un name = {.sun_family = AF_UNIX};
static socklen_t length = sizeof(sa_family_t);
static char many[8000];

static void ask(int fd, int other) {
    struct pollfd all[] = {{.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP}, {.fd = other, .events = POLLIN}};
    say("poll", poll(all, 2, 0));
    printf("%x %x\n", all[0].revents, all[1].revents);
}

static void names(int fd) {
    struct sockaddr_un one;
    socklen_t size = sizeof one;
    say("getsockname", getsockname(fd, (struct sockaddr *)&one, &size));
    printf("%u %d\n", size, one.sun_family);
    size = sizeof one;
    say("getpeername", getpeername(fd, (struct sockaddr *)&one, &size));
    printf("%u\n", size);
}

static void give_away(int fd) {
    char room[CMSG_SPACE(sizeof fd)] = "";
    struct iovec bytes = {"r", 1};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    int pair[2];
    say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    say("sendmsg", sendmsg(pair[0], &message, 0));
    say("recvmsg", recvmsg(pair[1], &message, 0));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    say("given", fd);
    say("send", send(fd, "given", 5, MSG_NOSIGNAL));
}

/* Numbers are given out and given back in the order in which they would be. */
static void count(void) {
    int pair[2], one = say("open", open("/dev/null", O_RDONLY)), other;
    say("pipe", pipe(pair));
    other = say("dup", dup(0));
    printf("%d %d\n", pair[0], pair[1]);
    close(one);
    say("socket", one = socket(AF_UNIX, SOCK_STREAM, 0));
    close(one);
    close(pair[0]);
    close(pair[1]);
    close(other);
}

/* What is closed is not there any more. */
static void use_closed(int fd) {
    struct pollfd poll_one = {.fd = fd, .events = POLLIN | POLLOUT};
    struct stat stat;
    char byte;
    if (what == 33)
        say("read", read(fd, &byte, 1));
    if (what == 34)
        say("fcntl", fcntl(fd, F_GETFL));
    if (what == 35) {
        say("poll", poll(&poll_one, 1, 0));
        printf("%x\n", poll_one.revents);
    }
    if (what == 36)
        say("fstat", fstat(fd, &stat));
    if (what == 37)
        say("close", close(fd));
    if (what == 38)
        say("dup", dup(fd));
    if (what == 39)
        say("connect", connect(fd, (struct sockaddr *)&name, length));
}

/* What a client does between what all do. */
static void in_client(int fd) {
    int number, other;
    struct iovec vector[] = {{"a vec", 5}, {"tor", 3}};
    switch (what) {
    case 1:
        say("write", write(fd, "written", 7));
        say("writev", writev(fd, vector, 1));
        say("writev", writev(fd, vector, 2));
        break;
    case 2: ask(fd, pipes[0]); break;
    case 4: say("shutdown", shutdown(fd, SHUT_WR)); break;
    case 5:
        other = say("dup", dup(fd));
        say("send", send(other, "again", 5, MSG_NOSIGNAL));
        close(other);
        break;
    case 7: give_away(fd); break;
    case 9: wait_in_group(fd); break;
    case 10: wait_in_set(fd); break;
    case 11:
        say("fcntl", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
        get(fd, 1, 0);
        break;
    case 12: say("send", send(fd, many, sizeof many, MSG_NOSIGNAL)); break;
    case 17:
        say("send", send(fd, NULL, 3, MSG_NOSIGNAL));
        say("send", send(fd, "constant", 8, MSG_NOSIGNAL));
        break;
    case 19: say("connect", connect(fd, (struct sockaddr *)&name, length)); break;
    case 21: get(fd, 5, MSG_DONTWAIT); break;
    case 23:
        say("dup2", dup2(pipes[0], fd));
        break;
    case 26: names(fd); break;
    case 28:
        say("send", send(fd, "", 0, MSG_NOSIGNAL));
        get(fd, 0, 0);
        break;
    case 29:
        number = -1;
        say("ioctl", ioctl(fd, FIONREAD, &number));
        say("bytes", number);
        break;
    case 40:
    case 41:
        for (int i = 0; i < small; i++)
            send(fd, "s", 1, MSG_NOSIGNAL);
        ask(fd, pipes[0]);
        say("write", write(pipes[1], "p", 1));
        break;
    }
}

/* A connection that is there before any choice. */
static int early[2] = {-1, -1};

static void connect_early(void) {
    say("socket", early[0] = socket(AF_UNIX, SOCK_STREAM, 0));
    say("connect", connect(early[0], (struct sockaddr *)&name, length));
    say("send", send(early[0], "early", 5, MSG_NOSIGNAL));
    if (what == 43) {
        say("accept", early[1] = accept(listener, NULL, NULL));
        get(early[1], 2, 0);
        say("send", send(early[1], "accepted", 8, MSG_NOSIGNAL));
    }
}

static void *client(void *unused) {
    if (early[1] >= 0) {
        get(early[1], 64, 0);
        ask(early[0], early[1]);
        get(early[0], 64, 0);
    }
    int kind = what == 30 ? SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC : SOCK_STREAM;
    int fd = say("socket", socket(AF_UNIX, kind, 0));
    struct sockaddr_un nobody = {.sun_family = AF_UNIX, .sun_path = "\0nobody of this name"};
    if (what == 16)
        say("connect", connect(fd, (struct sockaddr *)&nobody, sizeof nobody));
    if (what == 24) {
        int other = say("fcntl", fcntl(fd, F_DUPFD, 20));
        close(fd);
        fd = other;
    }
    if (what == 2)
        ask(fd, listener);
    if (what == 26)
        names(fd);
    if (what == 36)
        count();
    if (what == 35) {
        struct pollfd nothing_yet = {.fd = fd, .events = POLLIN | POLLOUT};
        say("poll", poll(&nothing_yet, 1, 0));
        printf("%x\n", nothing_yet.revents);
    }
    if (say("connect", connect(fd, (struct sockaddr *)&name, length)) < 0) {
        close(fd);
        return unused;
    }
    say("send", send(fd, "hello", 5, MSG_NOSIGNAL));
    in_client(fd);
    if (what != 20 && what != 13)
        get(fd, 64, 0);
    if (what == 2)
        ask(fd, pipes[0]);
    if (what == 12)
        get(fd, 64, 0);
    say("close", close(fd));
    use_closed(fd);
    if (what == 34)
        count();
    return unused;
}

/* What the server does with a connection before it answers. */
static void in_server(int fd) {
    char bytes[64] = "", rest[8];
    struct iovec vector[] = {{bytes, 9}, {rest, 8}};
    struct sockaddr_un from;
    socklen_t size = sizeof from;
    int number = -1;
    struct stat stat;
    switch (what) {
    case 1:
        show("read", bytes, read(fd, bytes, 4));
        show("readv", bytes, readv(fd, vector, 1));
        show("readv", bytes, readv(fd, vector, 2));
        break;
    case 2: ask(fd, listener); break;
    case 3: get(fd, 2, MSG_PEEK); break;
    case 6:
        size = sizeof number;
        say("getsockopt", getsockopt(fd, SOL_SOCKET, SO_TYPE, &number, &size));
        say("kind", number);
        break;
    case 8: wait_in_group(fd); break;
    case 12:
        for (long all = 0; all < (long)sizeof many;)
            all += say("recv", recv(fd, many, sizeof many, 0));
        break;
    case 15:
        say("ioctl", ioctl(fd, FIONREAD, &number));
        say("bytes", number);
        break;
    case 17: say("recv", recv(fd, (void *)8, 3, 0)); break;
    case 26: names(fd); break;
    case 27:
        show("recvfrom", bytes, recvfrom(fd, bytes, 2, 0, (struct sockaddr *)&from, &size));
        say("length", size);
        break;
    case 31:
        say("fstat", fstat(fd, &stat));
        say("is a socket", S_ISSOCK(stat.st_mode));
        break;
    case 40:
    case 41:
        say("read", read(pipes[0], bytes, 1));
        for (int i = 0; i < small; i++)
            recv(fd, bytes, 1, 0);
        break;
    }
}

static void *server(void *unused) {
    int ear = listener;
    if (what == 18)
        ear = say("dup", dup(listener));
    if (what == 8) {
        struct epoll_event event;
        say("epoll_wait", epoll_wait(group, &event, 1, -1));
    }
    if (what == 10)
        wait_in_set(listener);
    if (what == 14) {
        say("close", close(listener));
        return unused;
    }
    for (int i = 0; i < clients; i++) {
        struct sockaddr_un from;
        socklen_t size = what == 32 ? 1 : sizeof from;
        int fd = say("accept", accept4(ear, (struct sockaddr *)&from, &size, what % 2 ? SOCK_CLOEXEC : 0));
        say("length", size);
        if (what == 13) {
            close(fd);
            continue;
        }
        in_server(fd);
        /* Else the other is told that something was not read. */
        if (what != 20 && what != 12)
            get(fd, 3, 0);
        if (what != 20 && what != 12 && what != 27)
            get(fd, 64, 0);
        say("send", send(fd, "answer", 6, MSG_NOSIGNAL));
        say("send", send(fd, "!", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
        if (what == 37)
            count();
        say("close", close(fd));
        use_closed(fd);
    }
    return unused;
}

int main(int argc, char **argv) {
    what = argc > 1 ? atoi(argv[1]) : 0;
    if (what == 22 || what == 0)
        clients = 3;
    if (what >= 33 && what < 40)
        clients = 2;
    /* So many that the kernel says there is no room, or waits until there is. */
    if (what == 40 || what == 41)
        small = what == 40 ? 100 : 300;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, length) || pipe(pipes))
        return 2;
    length = sizeof name;
    if (getsockname(listener, (struct sockaddr *)&name, &length))
        return 3;
    if (what == 8) {
        struct epoll_event event = {.events = EPOLLIN};
        group = epoll_create1(0);
        say("epoll_ctl", epoll_ctl(group, EPOLL_CTL_ADD, listener, &event));
    }
    if (listen(listener, what == 22 ? 0 : 4))
        return 4;
    if (what >= 42)
        connect_early();
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, server, NULL);
    for (int i = 1; i <= clients; i++)
        pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i <= clients; i++)
        pthread_join(threads[i], NULL);
    if (what == 25) {
        char path[32];
        for (int fd = 0; fd < 3000; fd++) {
            struct stat stat;
            if (fstat(fd, &stat) == 0 && fd > 30)
                printf("there is %d\n", fd);
            snprintf(path, sizeof path, "/dev/null");
        }
        int opened = 0;
        while (open(path, O_RDONLY) >= 0)
            opened++;
        say("opened", opened);
    }
    say("close", close(listener));
    use_closed(listener);
    if (what >= 33)
        count();
    return 0;
}
