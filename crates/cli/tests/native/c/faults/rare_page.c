// Some runs write a page that no other run writes, and whoever finds that written would never end. All runs end in the
// same way after the same number of steps: nothing but the page tells them apart.
#include <pthread.h>

enum { TASKS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order[TASKS], count;
static char far[1 << 16] = {'o'};

static void *task(void *number) {
    pthread_mutex_lock(&lock);
    order[count++] = (int)(long)number;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t tasks[TASKS];
    for (long i = 0; i < TASKS; i++)
        pthread_create(&tasks[i], 0, task, (void *)i);
    for (int i = 0; i < TASKS; i++)
        pthread_join(tasks[i], 0);
    if (far[sizeof far / 2] == 'x')
        for (;;)
            __asm__ volatile("");
    int reversed = 1;
    for (int i = 0; i < TASKS; i++)
        reversed &= order[i] == TASKS - 1 - i;
    if (reversed)
        far[sizeof far / 2] = 'x';
    return 0;
}
