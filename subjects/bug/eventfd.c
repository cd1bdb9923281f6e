/* An event counter that is waited for by select, and never raised if the other has looked before. */
#include "pair.h"
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

static int fd;
static atomic_int waiting;

static void *wait_for_it(void *unused) {
    fd_set set;
    uint64_t count;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    waiting = 1;
    if (select(fd + 1, &set, NULL, NULL, NULL) != 1) // !deadlock
        abort();
    if (read(fd, &count, sizeof count) != sizeof count || count != 1)
        abort();
    return unused;
}

static void *raise_it(void *unused) {
    uint64_t one = 1;
#ifndef FIXED
    if (!waiting)
        return unused;
#endif
    if (write(fd, &one, sizeof one) != sizeof one)
        abort();
    return unused;
}

int main(void) {
    fd = eventfd(0, 0);
    pair(wait_for_it, raise_it);
    close(fd);
    return 0;
}
