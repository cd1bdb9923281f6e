/* A counter that is ready is closed: the group that it was in does not tell of it any more. */
#include "closing.h"

static void *work(void *name) {
    pthread_mutex_lock(&lock);
    uint64_t one = 1;
    struct epoll_event event;
    struct pollfd ask = {.fd = group, .events = POLLIN};
    switch (*(char *)name) {
    case 'a':
        say("write", write(counter, &one, 8));
        break;
    case 'b':
        say("close", close(counter));
        break;
    default:
        say("epoll_wait", epoll_wait(group, &event, 1, 0));
        say("poll", poll(&ask, 1, 0));
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv) {
    return prepare(argv[0]) || argc < 1 || three(work);
}
