/* Signals to the process, to the running thread and to another one: each handled, and by whom it is for. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t got[2];
static pthread_t other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handle(int signal) { got[pthread_equal(pthread_self(), other) ? 1 : 0] += signal; }

static void *work(void *argument) {
    while (!got[1]) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void *bystander(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle}, before;
    pthread_t third;
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGUSR2, handle);
    sigaction(SIGUSR1, NULL, &before);
    if (before.sa_handler != handle) return 1;
    raise(SIGUSR1);
    if (got[0] != SIGUSR1) return 2;
    kill(getpid(), SIGUSR2);
    if (got[0] != SIGUSR1 + SIGUSR2) return 3;
    pthread_create(&other, NULL, work, NULL);
    pthread_create(&third, NULL, bystander, NULL);
    if (pthread_kill(other, 0)) return 4;
    pthread_kill(other, SIGUSR1);
    pthread_join(other, NULL);
    pthread_join(third, NULL);
    return got[1] == SIGUSR1 ? 0 : 5;
}
