/* Depending on who is first the process is killed, crashes, ends in the middle, or goes well; and it leaves a child behind. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;

static void *work(void *argument) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        order = order * 2 + *(int *)argument;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    char *block = malloc(100);
    printf("begin ");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    if (fork() == 0) {
        sleep(1000);
        _exit(0);
    }
    printf("order %d\n", order);
    if (order == 3)
        kill(getpid(), SIGKILL);
    if (order == 5)
        *(volatile int *)8 = 1;
    if (order == 6)
        _exit(0);
    if (order == 10)
        free(block), free(block);
    return 0;
}
