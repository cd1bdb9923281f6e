/* Programs whose number of partial orders is known: counts NAME N. Main uses every object first, starts the threads
   and joins them; nothing else is shared. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 128, BLOCKS = 26, INODES = 32 };

static long size;
static atomic_long x, y, seen;
static atomic_long array[TABLE];
static pthread_mutex_t inodes[INODES], blocks[BLOCKS];
static long inode[INODES], busy[BLOCKS], plain;

/* One writes, the others read. */
static void readers(long i) {
    if (i == 0) atomic_store(&x, 1);
    else (void)atomic_load(&x);
}

/* The first looks for the last zero; each of the others adds one to what its neighbour has. */
static void lastzero(long i) {
    if (i > 0) {
        long before = atomic_load(&array[i - 1]);
        atomic_store(&array[i], before + 1);
        return;
    }
    long last = size;
    while (atomic_load(&array[last]) != 0) last--;
}

/* Each puts four messages into a hash table, at the first free place. */
static void indexer(long i) {
    for (long message = 1; message <= 4; message++) {
        long word = message * 11 + i, place = word * 7 % TABLE, zero = 0;
        while (!atomic_compare_exchange_strong(&array[place], &zero, word)) {
            zero = 0;
            place = (place + 1) % TABLE;
        }
    }
}

/* Each takes a block for its inode. */
static void filesystem(long i) {
    long mine = i % INODES, block = mine * 2 % BLOCKS;
    pthread_mutex_lock(&inodes[mine]);
    while (inode[mine] == 0) {
        pthread_mutex_lock(&blocks[block]);
        if (!busy[block]) {
            busy[block] = 1;
            inode[mine] = block + 1;
        }
        pthread_mutex_unlock(&blocks[block]);
        block = (block + 1) % BLOCKS;
    }
    pthread_mutex_unlock(&inodes[mine]);
}

static void increments(long i) {
    (void)i;
    atomic_fetch_add(&x, 1);
}

static void in_two_parts(long i) {
    (void)i;
    long before = atomic_load(&x);
    atomic_store(&x, before + 1);
}

static void plainly(long i) {
    (void)i;
    plain++;
}

static void buffering(long i) {
    atomic_store(i ? &y : &x, 1);
    (void)atomic_load(i ? &x : &y);
}

/* Fails in some of its partial orders, after which the others run on. */
static void failing(long i) {
    if (i == 0) atomic_store(&x, 1);
    else assert(atomic_load(&x) == 0 || i != 1);
}

static const struct { const char *name; void (*body)(long); int one_more; } programs[] = {
    {"readers", readers, 1},       {"lastzero", lastzero, 1},         {"indexer", indexer, 0},
    {"filesystem", filesystem, 0}, {"increments", increments, 0},     {"in_two_parts", in_two_parts, 0},
    {"plainly", plainly, 0},       {"buffering", buffering, 0},       {"failing", failing, 1},
};

static void (*body)(long);

static void *task(void *number) {
    body((long)(intptr_t)number);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size = atol(argv[2]);
    long tasks = 0;
    for (unsigned p = 0; p < sizeof programs / sizeof *programs; p++)
        if (!strcmp(argv[1], programs[p].name)) {
            body = programs[p].body;
            tasks = size + programs[p].one_more;
        }
    if (!body) return 2;
    atomic_store(&x, 0);
    atomic_store(&y, 0);
    for (int i = 0; i < TABLE; i++) atomic_store(&array[i], 0);
    for (int i = 0; i < INODES; i++) {
        pthread_mutex_init(&inodes[i], NULL);
        pthread_mutex_lock(&inodes[i]);
        pthread_mutex_unlock(&inodes[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_init(&blocks[i], NULL);
        pthread_mutex_lock(&blocks[i]);
        pthread_mutex_unlock(&blocks[i]);
    }
    pthread_t threads[64];
    for (long i = 0; i < tasks; i++) pthread_create(&threads[i], NULL, task, (void *)(intptr_t)i);
    for (long i = 0; i < tasks; i++) pthread_join(threads[i], NULL);
    return 0;
}
