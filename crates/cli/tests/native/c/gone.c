/* One thread gives a block back while another reads it, at its beginning or far from that. */
#include <pthread.h>
#include <stdlib.h>

static int *block;
static int at;
static int seen;

static void *give(void *argument) {
    free(block);
    return argument;
}

static void *take(void *argument) {
    seen = block[at];
    return argument;
}

int main(int argc, char **argv) {
    at = atoi(argv[argc - 1]);
    block = malloc((at + 1) * sizeof *block);
    block[at] = 1;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, take, NULL);
    pthread_create(&threads[1], NULL, give, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
