/* Between two sections of a lock each thread has the kernel keep something for it: a pipe, a queue of connections, a counter,
 * a set of files to wait for, how far a file is read. Whoever shares it with others would find it in the state they left. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;
static const char *what;

static void section(long me) {
    pthread_mutex_lock(&lock);
    order = order * 3 + (int)me;
    pthread_mutex_unlock(&lock);
}

static void must(int good) {
    if (!good)
        abort();
}

/* Puts something in, comes to a scheduling point, and takes it out. */
static void through(int in, int out, long me) {
    char byte = (char)('a' + me);
    must(write(in, &byte, 1) == 1);
    section(me);
    must(read(out, &byte, 1) == 1 && byte == (char)('a' + me));
}

static void use(long me) {
    int ends[2];
    if (!strcmp(what, "pipe")) {
        must(!pipe(ends));
        through(ends[1], ends[0], me);
        must(!close(ends[0]) && !close(ends[1]));
    } else if (!strcmp(what, "socketpair")) {
        must(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
        through(ends[0], ends[1], me);
        must(!close(ends[0]) && !close(ends[1]));
    } else if (!strcmp(what, "eventfd")) {
        uint64_t count = 3;
        int counter = eventfd(0, 0);
        must(write(counter, &count, 8) == 8);
        section(me);
        must(read(counter, &count, 8) == 8 && count == 3 && !close(counter));
    } else if (!strcmp(what, "epoll")) {
        struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT};
        int set = epoll_create1(0);
        must(!pipe(ends) && !epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &event));
        section(me);
        must(epoll_wait(set, &event, 1, 0) == 1 && epoll_wait(set, &event, 1, 0) == 0);
        must(!close(set) && !close(ends[0]) && !close(ends[1]));
    } else if (!strcmp(what, "file")) {
        char here[8], there[8];
        int file = open("/proc/self/exe", O_RDONLY);
        must(read(file, here, 8) == 8);
        section(me);
        must(lseek(file, 0, SEEK_CUR) == 8 && pread(file, there, 8, 0) == 8 && !memcmp(here, there, 8));
        must(!close(file));
    } else if (!strcmp(what, "memory")) {
        int file = memfd_create("x", 0);
        must(write(file, "123", 3) == 3);
        section(me);
        must(write(file, "4", 1) == 1 && lseek(file, 0, SEEK_CUR) == 4 && !close(file));
    } else if (!strcmp(what, "input")) {
        char bytes[4] = "";
        int copy = dup(0);
        must(read(copy, bytes, 2) >= 0);
        section(me);
        must(read(0, bytes + 2, 1) >= 0 && !close(copy));
        printf("%s\n", bytes);
    } else if (!strcmp(what, "shared")) {
        int *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        must(++*shared == 1);
        section(me);
        must(++*shared == 2 && !munmap(shared, 4096));
    }
}

static void *work(void *argument) {
    long me = (long)argument;
    section(me);
    use(me);
    section(me);
    printf("%ld\n", me);
    section(me);
    return 0;
}

int main(int argc, char **argv) {
    what = argc > 1 ? argv[1] : "";
    pthread_t one, other;
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&other, 0, work, (void *)2);
    pthread_join(one, 0);
    pthread_join(other, 0);
    printf("%d\n", order);
    return 0;
}
