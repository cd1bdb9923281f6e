/* A group that tells only of what has changed is open before the first thread: what the kernel keeps of it is not put back. */
#include "../faults/both.h"
#include <string.h>
#include <sys/epoll.h>

static int group, ends[2];

static void harm(void) {
    struct epoll_event event;
    if (write(ends[1], "x", 1) != 1 || epoll_wait(group, &event, 1, 0) != 1)
        abort();
}

int main(void) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    group = epoll_create1(0);
    if (group < 0 || pipe(ends) || epoll_ctl(group, EPOLL_CTL_ADD, ends[0], &event))
        return 1;
    both(harm);
    return 0;
}
