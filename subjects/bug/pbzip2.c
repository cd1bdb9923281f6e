/* Wang, Said and Gupta, "Coverage Guided Systematic Concurrency Testing" (ICSE 2011), table 2: pbzip2.
 *
 *             | paper                                     | here
 * bug         | order violation: main deletes the queue   | the same: main waits for the writer only
 *             | while consumers may still use it          |
 * threads     | 7                                         | main, 2 consumers, the writer
 * locks       | not given                                 | the queue's with a condition variable, the outputs' with another
 * operations  | not given                                 | a consumer takes blocks until there are none, and compresses them
 */
#include <pthread.h>
#include <stdlib.h>

enum { CONSUMERS = 2, BLOCKS = 3 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int blocks[BLOCKS], head, tail, all_done;
};

static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t out_more = PTHREAD_COND_INITIALIZER;
static int out[BLOCKS], written;

static struct queue *queue_init(void) {
    struct queue *queue = calloc(1, sizeof *queue); // !memory
    if (!queue)
        abort();
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    return queue;
}

static void queue_delete(struct queue *queue) {
    free(queue); // !race !memory
}

static int queue_take(struct queue *queue) {
    pthread_mutex_lock(&queue->lock); // !memory !race !deadlock !crash !misuse
    while (queue->head == queue->tail && !queue->all_done) // !memory !race !crash
        pthread_cond_wait(&queue->not_empty, &queue->lock); // !memory !race !deadlock !crash !misuse
    int block = queue->head < queue->tail ? queue->blocks[queue->head++] : -1; // !memory !race !crash
    pthread_mutex_unlock(&queue->lock); // !memory !race !crash !misuse
    return block;
}

static void *consumer(void *argument) {
    for (int block; (block = queue_take(argument)) >= 0;) {
        pthread_mutex_lock(&out_lock);
        out[block] = block + 1;
        pthread_cond_signal(&out_more);
        pthread_mutex_unlock(&out_lock);
    }
    return NULL;
}

static void *file_writer(void *unused) {
    for (int block = 0; block < BLOCKS; block++) {
        pthread_mutex_lock(&out_lock);
        while (!out[block])
            pthread_cond_wait(&out_more, &out_lock);
        written += out[block];
        pthread_mutex_unlock(&out_lock);
    }
    return unused;
}

int main(void) {
    struct queue *queue = queue_init();
    pthread_t consumers[CONSUMERS], writer;
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consumer, queue);
    pthread_create(&writer, NULL, file_writer, NULL);
    for (int block = 0; block < BLOCKS; block++) {
        pthread_mutex_lock(&queue->lock);
        queue->blocks[queue->tail++] = block;
        pthread_cond_signal(&queue->not_empty);
        pthread_mutex_unlock(&queue->lock);
    }
    pthread_mutex_lock(&queue->lock);
    queue->all_done = 1;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(writer, NULL);
#ifdef FIXED
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    queue_delete(queue);
#else
    queue_delete(queue); // !race
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL); // !deadlock
#endif
    return written != BLOCKS * (BLOCKS + 1) / 2;
}
