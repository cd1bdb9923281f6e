/* Main asks which process it is before it makes threads, and one of them sends a signal to that process if it comes first. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t own;
static int order;
static volatile sig_atomic_t caught;

static void handler(int signal) { caught += signal == SIGUSR1; }

static void *work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        order = order * 3 + (int)me;
        int first = order == 2;
        pthread_mutex_unlock(&lock);
        if (first && kill(own, SIGUSR1))
            printf("there is no such process\n");
    }
    return 0;
}

int main(void) {
    signal(SIGUSR1, handler);
    own = getpid();
    pthread_t one, other;
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&other, 0, work, (void *)2);
    pthread_join(one, 0);
    pthread_join(other, 0);
    printf("%d %d\n", order, (int)caught);
    return caught != (order / 27 == 2);
}
