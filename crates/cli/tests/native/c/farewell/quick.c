/* The program ends by quick_exit, with what is registered for that and nothing else. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int order;

static void never(void) { abort(); }
static void first(void) {
    if (order != 2) abort();
}
static void second(void) {
    if (order++ != 1) abort();
}

static void *ends(void *is_one) {
    if (is_one) {
        order++;
        quick_exit(0);
    }
    return is_one;
}

int main(int argc, char **argv) {
    pthread_t thread;
    atexit(never);
    at_quick_exit(first);
    at_quick_exit(second);
    pthread_create(&thread, NULL, ends, strcmp(argv[argc - 1], "thread") ? NULL : &order);
    /* Something that either thread may do first. */
    if (order > 2) abort();
    pthread_join(thread, NULL);
    ends(&order);
}
