// What reports have to name: a group of files, a variable on main's stack, a block that is given back.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int counter, *block, copy[20];

static void *tell(void *unused) {
    uint64_t one = 1;
    assert(write(counter, &one, sizeof one) == sizeof one);
    return unused;
}

static void wait_in_group(void) {
    counter = eventfd(0, 0);
    int group = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(group, EPOLL_CTL_ADD, counter, &event);
    pthread_t thread;
    pthread_create(&thread, NULL, tell, NULL);
    epoll_wait(group, &event, 1, -1);
    pthread_join(thread, NULL);
    assert(0);
}

static void *write_there(void *variable) {
    *(int *)variable = 1;
    return NULL;
}

static void share_stack(void) {
    int variable = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, write_there, &variable);
    variable = 2;
    pthread_join(thread, NULL);
}

static void *give_back(void *unused) {
    memcpy(copy, block, sizeof copy);
    free(block);
    return unused;
}

static void free_block(void) {
    block = calloc(20, sizeof *block);
    pthread_t thread;
    pthread_create(&thread, NULL, give_back, NULL);
    pthread_join(thread, NULL);
    assert(0);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    if (strcmp(argv[1], "group") == 0) wait_in_group();
    if (strcmp(argv[1], "stack") == 0) share_stack();
    if (strcmp(argv[1], "block") == 0) free_block();
    return 0;
}
