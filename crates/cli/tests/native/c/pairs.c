/* Two threads at the ends of a pair of sockets. What each call says is printed. The first argument says what is done, the second
 * whether the pair is made before there is any choice or within a run. */
#define _GNU_SOURCE
#include "said.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int what, ends[2], pipes[2], group;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char many[300000], order[16];

static void put(int fd, const char *text) { say("send", send(fd, text, strlen(text), MSG_NOSIGNAL)); }

static void ask(int fd) {
    struct pollfd all[] = {{.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP},
                           {.fd = pipes[0], .events = POLLIN},
                           {.fd = -1, .events = POLLIN}};
    say("poll", poll(all, 3, 0));
    printf("%x %x\n", all[0].revents, all[1].revents);
}

/* Who has come here so far. */
static void sign(const char *name) {
    pthread_mutex_lock(&lock);
    strcat(order, name);
    pthread_mutex_unlock(&lock);
}

static const char *so_far(void) {
    static _Thread_local char copy[sizeof order];
    pthread_mutex_lock(&lock);
    strcpy(copy, order);
    pthread_mutex_unlock(&lock);
    return copy;
}

static void count(void) {
    int pair[2] = {-1, -1}, one = say("open", open("/dev/null", O_RDONLY)), other;
    say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    say("pipe", pipe(pipes));
    other = say("dup", dup(0));
    printf("%d %d %d %d\n", pair[0], pair[1], pipes[0], pipes[1]);
    put(pair[0], "counted");
    get(pair[1], 64, 0);
    close(one);
    close(pair[1]);
    say("socket", one = socket(AF_UNIX, SOCK_STREAM, 0));
    close(one);
    close(pair[0]);
    close(other);
}

static void use_closed(int fd) {
    struct pollfd one = {.fd = fd, .events = POLLIN | POLLOUT};
    struct stat stat;
    char byte;
    say("read", read(fd, &byte, 1));
    say("write", write(fd, "x", 1));
    say("poll", poll(&one, 1, 0));
    printf("%x\n", one.revents);
    say("fcntl", fcntl(fd, F_GETFL));
    say("fstat", fstat(fd, &stat));
    say("dup", dup(fd));
    say("close", close(fd));
}

static void message(int fd, int gift) {
    char room[CMSG_SPACE(sizeof gift)] = "";
    struct iovec bytes = {"message", 7};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (gift >= 0) {
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof gift);
        memcpy(CMSG_DATA(rights), &gift, sizeof gift);
    }
    say("sendmsg", sendmsg(fd, &message, MSG_NOSIGNAL));
}

static int get_message(int fd) {
    char bytes[64] = "", room[64] = "";
    struct iovec vector = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    show("recvmsg", bytes, recvmsg(fd, &message, 0));
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    int gift = -1;
    if (rights)
        memcpy(&gift, CMSG_DATA(rights), sizeof gift);
    return say("gift", gift);
}

static void questions(int fd, int other) {
    int number = -1;
    socklen_t size = sizeof number;
    struct sockaddr_storage name;
    struct stat one, two;
    char links[2][64] = {"", ""}, path[32];
    say("getsockopt", getsockopt(fd, SOL_SOCKET, SO_TYPE, &number, &size));
    say("kind", number);
    size = sizeof name;
    say("getpeername", getpeername(fd, (struct sockaddr *)&name, &size));
    say("length", size);
    say("ioctl", ioctl(fd, FIONREAD, &number));
    say("bytes", number);
    say("F_GETFL", fcntl(fd, F_GETFL));
    say("F_GETFD", fcntl(fd, F_GETFD));
    fstat(fd, &one);
    fstat(other, &two);
    say("is a socket", S_ISSOCK(one.st_mode));
    say("same", one.st_ino == two.st_ino);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", i ? other : fd);
        readlink(path, links[i], 63);
    }
    printf("%.8s\n", links[0]);
    say("same", !strcmp(links[0], links[1]));
}

static void list(void) {
    DIR *all = opendir("/proc/self/fd");
    int found = 0;
    while (all && readdir(all))
        found++;
    say("found", found);
    if (all)
        closedir(all);
}

static void in_child(int fd) {
    pid_t child = fork();
    if (child == 0) {
        if (write(fd, "child", 5) != 5)
            _exit(1);
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("status", status);
}

/* A pair needs two numbers. */
static void use_up(void) {
    int pair[2] = {-1, -1}, one, last = -1;
    while ((one = open("/dev/null", O_RDONLY)) >= 0)
        last = one;
    for (int i = 0; i < 3; i++) {
        say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
        say("close", close(last - i));
    }
    printf("%d %d\n", pair[0] - last, pair[1] - last);
}

static void *left(void *unused) {
    int fd = ends[0], other, pair[2];
    char bytes[64] = "";
    struct iovec vector[] = {{"a vec", 5}, {"tor", 3}};
    sign("l");
    switch (what) {
    case 0:
        for (int i = 0; i < 3; i++) {
            say("write", write(fd, "ping", 4));
            show("read", bytes, read(fd, bytes, sizeof bytes));
        }
        break;
    case 1:
        put(fd, "hello");
        put(fd, "there");
        get(fd, 64, 0);
        break;
    case 2:
        ask(fd);
        put(fd, "hello");
        ask(fd);
        if (so_far()[0] == 'l')
            say("write", write(pipes[1], "p", 1));
        ask(fd);
        break;
    case 3:
        put(fd, "last");
        say("close", close(fd));
        break;
    case 4:
        put(fd, "unread");
        get(fd, 1, 0);
        say("close", close(fd));
        break;
    case 5: put(fd, so_far()); break;
    case 6:
        say("close", close(fd));
        use_closed(fd);
        break;
    case 7:
        say("fcntl", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
        get(fd, 8, 0);
        put(fd, "mine");
        break;
    case 8:
        get(fd, 8, 0);
        put(fd, "mine");
        break;
    case 9:
        other = say("dup", dup(fd));
        put(fd, "one");
        close(fd);
        put(other, "two");
        close(other);
        break;
    case 10:
        put(fd, "end");
        say("shutdown", shutdown(fd, SHUT_WR));
        get(fd, 8, 0);
        break;
    case 11: message(fd, -1); break;
    case 12: message(fd, fd); break;
    case 13: say("write", write(fd, many, sizeof many)); break;
    case 14:
        /* There is no room, says the kernel. */
        for (int i = 0; i < 100; i++)
            send(fd, "s", 1, MSG_NOSIGNAL);
        ask(fd);
        say("write", write(pipes[1], "p", 1));
        break;
    case 15:
        say("close", close(fd));
        count();
        break;
    case 16: put(fd, "x"); break;
    case 17:
        get(fd, 3, 0);
        put(fd, so_far());
        break;
    case 18:
        in_child(fd);
        get(fd, 64, 0);
        break;
    case 19:
        put(fd, "peeked");
        get(fd, 8, MSG_DONTWAIT);
        break;
    case 20: put(fd, "set"); break;
    case 21: put(fd, "group"); break;
    case 22:
        questions(fd, ends[1]);
        put(fd, "asked");
        break;
    case 23: put(fd, "asked"); break;
    case 24:
        say("write", write(fd, "piped", 5));
        say("write", write(fd, "piped", 5));
        break;
    case 25:
        put(fd, "before");
        get(fd, 64, 0);
        say("dup2", dup2(pipes[0], fd));
        ask(fd);
        break;
    case 26:
        say("dup2", dup2(fd, 30));
        put(30, "thirty");
        say("F_DUPFD", fcntl(fd, F_DUPFD, 20));
        break;
    case 27:
        for (int i = 0; i < 20; i++) {
            say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
            printf("%d %d\n", pair[0], pair[1]);
            put(pair[0], "many");
            get(pair[1], 64, 0);
            if (i % 3 == 0)
                close(pair[i % 2]);
        }
        break;
    case 28:
        say("writev", writev(fd, vector, 1));
        say("writev", writev(fd, vector, 2));
        break;
    case 29:
        say("send", send(fd, "", 0, MSG_NOSIGNAL));
        put(fd, "more");
        break;
    case 30:
        put(fd, "abcdef");
        get(ends[1], 2, 0);
        break;
    case 31: say("close", close(fd)); break;
    case 32:
        say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, NULL));
        say("send", send(fd, (void *)8, 3, MSG_NOSIGNAL));
        put(fd, "constant");
        break;
    case 33: use_up(); break;
    case 34:
        for (int kind = SOCK_DGRAM; kind <= SOCK_SEQPACKET; kind++) {
            say("socketpair", socketpair(AF_UNIX, kind, 0, pair));
            printf("%d %d\n", pair[0], pair[1]);
        }
        say("socketpair", socketpair(AF_INET, SOCK_STREAM, 0, pair));
        break;
    case 35:
        say("close", close(fd));
        say("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
        printf("%d %d\n", pair[0], pair[1]);
        put(pair[1], "left behind");
        break;
    case 36: put(fd, so_far()); break;
    case 37: list(); break;
    case 38:
        put(fd, "to the one who is told");
        close(fd);
        count();
        break;
    case 39:
        /* It waits until there is. */
        for (int i = 0; i < 300; i++)
            send(fd, "s", 1, MSG_NOSIGNAL);
        say("send", 300);
        if (so_far()[1])
            say("write", write(pipes[1], "p", 1));
        break;
    case 40:
        put(fd, "asked");
        questions(fd, ends[1]);
        break;
    case 41:
        say("close", close(fd));
        break;
    case 42:
        put(fd, "not read");
        say("close", close(fd));
        break;
    case 43:
        put(fd, "not read");
        get(fd, 64, MSG_DONTWAIT);
        say("SO_ERROR", getsockopt(fd, SOL_SOCKET, SO_ERROR, many, &(socklen_t){4}));
        break;
    }
    return unused;
}

static void *right(void *unused) {
    int fd = ends[1];
    char bytes[64] = "", rest[8];
    struct iovec vector[] = {{bytes, 3}, {rest, 8}};
    sign("r");
    switch (what) {
    case 0:
        for (int i = 0; i < 3; i++) {
            show("read", bytes, read(fd, bytes, sizeof bytes));
            say("write", write(fd, "pong", 4));
        }
        break;
    case 1:
        get(fd, 3, 0);
        get(fd, 64, 0);
        put(fd, "you");
        break;
    case 2:
        ask(fd);
        get(fd, 64, 0);
        ask(fd);
        break;
    case 3:
        ask(fd);
        get(fd, 64, 0);
        get(fd, 64, 0);
        ask(fd);
        put(fd, "x");
        break;
    case 4:
        put(fd, "all of this");
        ask(fd);
        get(fd, 64, 0);
        ask(fd);
        put(fd, "x");
        get(fd, 64, 0);
        ask(fd);
        get(fd, 64, 0);
        break;
    case 5:
        if (so_far()[0] == 'r')
            put(fd, "from the right");
        break;
    case 6: put(fd, "to nobody?"); break;
    case 7:
    case 8: put(fd, "yours"); break;
    case 9:
        get(fd, 64, 0);
        get(fd, 64, 0);
        get(fd, 64, 0);
        break;
    case 10:
        get(fd, 64, 0);
        get(fd, 64, 0);
        put(fd, "still");
        break;
    case 11: get_message(fd); break;
    case 12:
        put(get_message(fd), "to myself");
        get(fd, 64, 0);
        break;
    case 13:
        for (long all = 0; all < (long)sizeof many;)
            all += say("read", read(fd, many, sizeof many));
        break;
    case 14:
        say("read", read(pipes[0], bytes, 1));
        for (int i = 0; i < 50; i++)
            recv(fd, bytes, 1, 0);
        ask(fd);
        break;
    case 15:
        if (so_far()[0] == 'r')
            say("close", close(fd));
        break;
    case 16:
        get(fd, 64, 0);
        ask(fd);
        put(fd, "x");
        break;
    case 17:
        get(fd, 64, 0);
        put(fd, so_far());
        break;
    case 18:
        get(fd, 2, 0);
        put(fd, "parent");
        break;
    case 19:
        get(fd, 3, MSG_PEEK);
        get(fd, 64, 0);
        break;
    case 20:
        wait_in_set(fd);
        get(fd, 64, 0);
        break;
    case 21:
        wait_in_group(fd);
        get(fd, 64, 0);
        break;
    case 22:
    case 40: get(fd, 64, 0); break;
    case 23:
        questions(fd, ends[0]);
        get(fd, 64, 0);
        break;
    case 24: say("close", close(fd)); break;
    case 25:
        get(fd, 64, 0);
        put(fd, "x");
        get(fd, 64, 0);
        break;
    case 26: get(fd, 64, 0); break;
    case 28:
        show("readv", bytes, readv(fd, vector, 1));
        show("readv", bytes, readv(fd, vector, 2));
        break;
    case 29:
        get(fd, 0, 0);
        get(fd, 64, 0);
        break;
    case 30: get(fd, 2, 0); break;
    case 31:
        get(fd, 64, 0);
        say("close", close(fd));
        break;
    case 32:
        say("recv", recv(fd, (void *)8, 3, 0));
        get(fd, 64, 0);
        break;
    case 35: get(fd, 64, 0); break;
    case 36: {
        struct epoll_event event;
        say("epoll_wait", epoll_wait(group, &event, 1, -1));
        get(fd, 64, 0);
        break;
    }
    case 38: {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        say("poll", poll(&one, 1, -1));
        printf("%x\n", one.revents);
        get(fd, 8, 0);
        get(fd, 64, 0);
        get(fd, 64, 0);
        break;
    }
    case 41:
        put(fd, "sent");
        ask(fd);
        get(fd, 64, MSG_DONTWAIT);
        ask(fd);
        get(fd, 64, MSG_DONTWAIT);
        break;
    case 42:
        put(fd, "not read either");
        say("close", close(fd));
        break;
    case 43: say("close", close(fd)); break;
    case 39:
        if (so_far()[1])
            say("read", read(pipes[0], bytes, 1));
        for (int i = 0; i < 300; i++)
            recv(fd, bytes, 1, 0);
        say("recv", 300);
        break;
    }
    return unused;
}

static void make(void) {
    int kind = what == 8 ? SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC : SOCK_STREAM;
    say("socketpair", socketpair(AF_UNIX, kind, 0, ends));
    printf("%d %d\n", ends[0], ends[1]);
    if (what == 16)
        say("close", close(ends[0]));
    if (what == 17) {
        put(ends[0], "on the way");
        put(ends[1], "on the way back");
    }
    if (what == 36) {
        struct epoll_event event = {.events = EPOLLIN};
        group = epoll_create1(0);
        say("epoll_ctl", epoll_ctl(group, EPOLL_CTL_ADD, ends[1], &event));
    }
}

/* Both ends, and who has come first. */
static void *both(void *unused) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, left, NULL);
    pthread_create(&threads[1], NULL, right, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return unused;
}

static void *noise(void *unused) {
    int pair[2];
    sign("n");
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    sign("n");
    put(pair[0], "noise");
    close(pair[0]);
    return unused;
}

static void *inside(void *unused) {
    sign("i");
    make();
    return both(unused);
}

int main(int argc, char **argv) {
    if (argc < 3 || pipe(pipes))
        return 2;
    what = atoi(argv[1]);
    signal(SIGPIPE, SIG_IGN);
    if (!strcmp(argv[2], "before")) {
        make();
        both(NULL);
    } else {
        pthread_t threads[2];
        pthread_create(&threads[0], NULL, inside, NULL);
        pthread_create(&threads[1], NULL, noise, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%s\n", order);
    return 0;
}
