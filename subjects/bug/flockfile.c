// Two streams that are locked in two orders. Ours; no paper. Two threads, the two locks are those of the streams.
#include <pthread.h>
#include <stdio.h>

static void say(FILE *first, FILE *second) {
    flockfile(first); // !deadlock
    fputs("one\n", first);
    flockfile(second); // !deadlock
    fputs("two\n", second);
    funlockfile(second);
    funlockfile(first);
}

static void *forward(void *argument) {
    say(stdout, stderr);
    return argument;
}

static void *backward(void *argument) {
    say(stderr, stdout);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, forward, 0);
    pthread_create(&threads[1], 0, backward, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
