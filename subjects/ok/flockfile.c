// The mended twin: one order. A third thread prints to a stream that others have locked, and waits for its turn; what the
// lock protects is no race.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int lines;

static void *say(void *argument) {
    flockfile(stdout);
    flockfile(stdout);
    int before = lines;
    fputs("one\n", stdout);
    flockfile(stderr);
    fprintf(stderr, "%s %d\n", "two", 2);
    lines = before + 1;
    funlockfile(stderr);
    funlockfile(stdout);
    putchar_unlocked('\n');
    funlockfile(stdout);
    return argument;
}

static void *print(void *argument) {
    printf("%d %s %.2f %ld %c\n", 1, "three", 3.25, 4L, 'x');
    return argument;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, say, 0);
    pthread_create(&threads[1], 0, say, 0);
    pthread_create(&threads[2], 0, print, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    assert(lines == 2);
    return 0;
}
