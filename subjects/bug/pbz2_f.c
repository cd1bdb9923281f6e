/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 2: pbz2-f.
 *
 *             | paper                                     | here
 * bug         | race on OutputBuff[i].buf and .bufSize    | the same: the writer may see the one and not yet the other
 *             | between consumers and the writer          |
 * threads     | 7                                         | main, 2 consumers, the writer
 * locks       | not given                                 | one for the next block to be taken; mended: one for the outputs
 * operations  | not given                                 | a consumer takes blocks until there are none; the writer polls
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONSUMERS = 2, BLOCKS = 2, SIZE = 10 };

struct output {
    char *buf;
    int size;
};

static struct output output_buff[BLOCKS];
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_block;
#ifdef FIXED
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *consumer(void *unused) {
    for (;;) {
        pthread_mutex_lock(&next_lock);
        int block = next_block++;
        pthread_mutex_unlock(&next_lock);
        if (block >= BLOCKS)
            return unused;
        char *buf = malloc(SIZE);
#ifdef FIXED
        pthread_mutex_lock(&out_lock);
#endif
        output_buff[block].buf = buf;   // !race
        output_buff[block].size = SIZE; // !race
#ifdef FIXED
        pthread_mutex_unlock(&out_lock);
#endif
    }
}

/* Whether a block is there, and how large it is. */
static char *look(int block, int *size) {
#ifdef FIXED
    pthread_mutex_lock(&out_lock);
#endif
    char *buf = output_buff[block].buf; // !race
    if (buf)
        *size = output_buff[block].size; // !race
#ifdef FIXED
    pthread_mutex_unlock(&out_lock);
#endif
    return buf;
}

static void *file_writer(void *unused) {
    int bytes = 0;
    for (int block = 0; block < BLOCKS; block++) {
        int size = 0;
        char *buf;
        while (!(buf = look(block, &size)))
            usleep(50);
        bytes += size;
        free(buf);
    }
    assert(bytes == BLOCKS * SIZE); // !assertion
    return unused;
}

int main(void) {
    pthread_t threads[CONSUMERS + 1];
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[i], NULL, consumer, NULL);
    pthread_create(&threads[CONSUMERS], NULL, file_writer, NULL);
    for (int i = 0; i <= CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
