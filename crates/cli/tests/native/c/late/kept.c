/* Pipes, a pair of sockets, counters, a group and a file are open before the first thread. The threads leave something in each of them,
 * and what it is differs from run to run: the next one must find them as they were. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int file, spare, ends[2], pair[2], tokens, events, group;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[16];

static void look(void) {
    struct pollfd all[] = {{.fd = ends[0], .events = POLLIN},
                           {.fd = pair[0], .events = POLLIN},
                           {.fd = pair[1], .events = POLLIN},
                           {.fd = tokens, .events = POLLIN},
                           {.fd = events, .events = POLLIN}};
    poll(all, 5, 0);
    printf("at %ld:", (long)lseek(file, 0, SEEK_CUR));
    for (int i = 0; i < 5; i++)
        printf(" %d", all[i].revents);
    printf(" after %s;", order);
    /* In the order in which they became ready. */
    struct epoll_event ready[4];
    int count = epoll_wait(group, ready, 4, 0);
    for (int i = 0; i < count; i++)
        printf(" %d", ready[i].data.fd);
    printf("\n");
    fflush(stdout);
}

static void *work(void *name) {
    char bytes[4];
    uint64_t number = strlen(order) + 1;
    pthread_mutex_lock(&lock);
    look();
    strcat(order, name);
    if (write(ends[1], name, 1) != 1 || read(file, bytes, strlen(order)) < 1)
        _exit(3);
    if (*(char *)name == 'a' && send(pair[0], order, strlen(order), 0) < 1)
        _exit(4);
    if (*(char *)name == 'b' && read(tokens, &number, 8) != 8)
        _exit(5);
    if (order[0] == 'c' && write(events, &number, 8) != 8)
        _exit(6);
    if (order[0] == 'b' && read(ends[0], bytes, 1) != 1)
        _exit(7);
#ifdef CLOSES
    if (order[0] == 'c')
        close(pair[0]);
#endif
    look();
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv) {
    file = open(argv[0], O_RDONLY);
    spare = dup(file);
    tokens = eventfd(3, EFD_SEMAPHORE);
    events = eventfd(0, 0);
    if (argc < 1 || file < 0 || pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    lseek(file, 10, SEEK_SET);
    group = epoll_create1(0);
    int all[] = {ends[0], pair[1], events};
    for (int i = 0; i < 3; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = all[i]};
        if (epoll_ctl(group, EPOLL_CTL_ADD, all[i], &event))
            return 2;
    }
    pthread_t threads[3];
    char *names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, names[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    look();
    return 0;
}
