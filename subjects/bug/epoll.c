/* An event loop that ends when it is told to; told by a flag, it does not wake up. */
#include "pair.h"
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int loop, wake;
static atomic_int stop;

static void *run(void *unused) {
    while (!stop) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1) // !deadlock
            abort();
    }
    return unused;
}

static void *end(void *unused) {
    stop = 1;
#ifdef FIXED
    if (eventfd_write(wake, 1))
        abort();
#endif
    return unused;
}

int main(void) {
    struct epoll_event event = {.events = EPOLLIN};
    loop = epoll_create1(0);
    wake = eventfd(0, 0);
    if (epoll_ctl(loop, EPOLL_CTL_ADD, wake, &event))
        return 2;
    pair(run, end);
    close(loop);
    close(wake);
    return 0;
}
