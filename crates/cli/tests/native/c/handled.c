/* A thread is sent a signal while it does things of several kinds. How far it was when its handler ran is told by how the
 * program fails. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int state;
static int plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static int ends[2];
static const char *what;

static void doubles(int signal) {
    (void)signal;
    state = state * 2 + 1;
    plain = plain * 2 + 1;
}

static void *works(void *unused) {
    for (int i = 0; i < 2; i++) {
        if (!strcmp(what, "atomic")) {
            state = state + 2;
        } else if (!strcmp(what, "exchange")) {
            int seen = state;
            while (!atomic_compare_exchange_strong(&state, &seen, seen + 2)) {}
        } else if (!strcmp(what, "mutex")) {
            pthread_mutex_lock(&mutex);
            state = state + 2;
            pthread_mutex_unlock(&mutex);
        } else if (!strcmp(what, "plain")) {
            plain = plain + 2;
        } else if (!strcmp(what, "semaphore")) {
            sem_wait(&semaphore);
            state = state + 2;
        } else {
            char byte;
            if (write(ends[1], "", 1) != 1 || read(ends[0], &byte, 1) != 1) abort();
            state = state + 2;
        }
    }
    return unused;
}

static void tell(int result) {
    switch (result) {
    case 4: assert(!"4"); break;
    case 5: assert(!"5"); break;
    case 7: assert(!"7"); break;
    case 9: assert(!"9"); break;
    default: assert(!"something else");
    }
}

int main(int argc, char **argv) {
    pthread_t thread;
    sigset_t set;
    what = argv[argc - 1];
    signal(SIGUSR1, doubles);
    if (pipe(ends) || sem_init(&semaphore, 0, 1)) return 1;
    pthread_create(&thread, NULL, works, NULL);
    sem_post(&semaphore);
    if (argc > 2) {
        /* To whichever thread does not mind, of which there is one. */
        sigfillset(&set);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        kill(getpid(), SIGUSR1);
    } else {
        pthread_kill(thread, SIGUSR1);
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    tell(strcmp(what, "plain") ? state : plain);
    return 0;
}
