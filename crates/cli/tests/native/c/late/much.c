/* Main builds up a lot before it makes its first thread: memory, output, handlers, blocked signals, an order of locks,
 * and a place in standard input. All of it is there in every run, and threads change all of it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct node {
    struct node *next;
    char fill[5000];
};

static struct node *all;
static char *mapped;
static long caught, turns;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static __thread int own = 7;

static void handler(int signal) { caught += signal; }

static void *work(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(me ? &second : &first);
        turns = turns * 3 + me;
        own += me;
        all->fill[turns % 5000] += me + 1;
        mapped[turns % 4096] += me + 1;
        pthread_mutex_unlock(me ? &second : &first);
    }
    pthread_mutex_lock(me ? &second : &first);
    pthread_mutex_lock(me ? &first : &second);
    pthread_mutex_unlock(me ? &first : &second);
    pthread_mutex_unlock(me ? &second : &first);
    return argument;
}

int main(void) {
    for (int i = 0; i < 300; i++) {
        struct node *node = malloc(sizeof *node);
        memset(node->fill, i, sizeof node->fill);
        node->next = all;
        all = node;
    }
    for (int i = 0; i < 100; i++) {
        struct node *next = all->next;
        free(all);
        all = next;
    }
    mapped = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, 1 << 20);
    signal(SIGUSR1, handler);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, 0);
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    struct timespec short_time = {0, 1000};
    nanosleep(&short_time, 0);
    srand(5);
    char line[8] = "";
    if (read(0, line, 4) != 4)
        return 3;
#ifndef QUIET
    dprintf(1, "begin %s\n", line);
    fprintf(stderr, "begins %d\n", rand());
#endif
    printf("buffered ");

    pthread_t threads[2];
    int names[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &names[i]);
    raise(SIGUSR1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);

    signal(SIGUSR1, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &set, 0);
    if (read(0, line, 4) != 4)
        return 4;
    long sum = caught + own + turns;
    for (struct node *node = all; node; node = node->next)
        for (int i = 0; i < 5000; i += 100)
            sum = sum * 31 + node->fill[i];
    for (int i = 0; i < 4096; i++)
        sum = sum * 31 + mapped[i];
    printf("%s %ld %d %ld\n", line, sum, rand(), (long)clock());
    while (all) {
        struct node *next = all->next;
        free(all);
        all = next;
    }
    return 0;
}
