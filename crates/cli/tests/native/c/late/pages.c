/* Each thread writes to pages of several kinds, which must be as main has left them in every run: variables with a value and
 * without, the heap, and what is mapped. Which of them one writes hangs on who comes first. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
#define PAGES 8

static char values[PAGES * PAGE] = {5};
static char zeros[PAGES * PAGE];
static char *heap, *mapped, *large;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turn;

static void change(char *memory, int page, char before) {
    if (memory[page * PAGE] != before)
        abort();
    memory[page * PAGE] = 77;
}

static void *work(void *which) {
    pthread_mutex_lock(&lock);
    int mine = 2 * turn++ + (which != NULL);
    change(values, 1 + mine, 3);
    change(zeros, 1 + mine, 0);
    change(heap, 1 + mine, 4);
    change(mapped, 1 + mine, mine % 2 ? 6 : 0);
    change(large, 500 + mine, 8);
    pthread_mutex_unlock(&lock);
    return which;
}

int main(void) {
    size_t all = 4u << 20;
    heap = malloc(PAGES * PAGE);
    mapped = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    large = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!heap || mapped == MAP_FAILED || large == MAP_FAILED)
        abort();
    madvise(large, all, MADV_HUGEPAGE);
    memset(large, 8, all);
    memset(values, 3, sizeof values);
    memset(heap, 4, PAGES * PAGE);
    for (int page = 0; page < PAGES; page++)
        if (page % 2 == 0)
            mapped[page * PAGE] = 6;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, &turn);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
