/* Main wants to hear of children before it makes threads. It has none, and so hears of none: whoever makes copies of it must
 * not be the one who does. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t heard;
static int order;

static void handler(int signal) { heard += signal; }

static void *work(void *argument) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        order = order * 2 + *(int *)argument;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    signal(SIGCHLD, handler);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("order %d, heard %d\n", order, (int)heard);
    return heard != 0;
}
