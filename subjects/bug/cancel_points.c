/* Threads that wait, each in another call, are cancelled; each cleans up. The one in a lock is not taken out of it:
 * a lock is no cancellation point. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int ends[2], pair[2], group;
static sem_t none;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static atomic_int cleaned;
static unsigned rounds;

static void clean(void *unused) {
    (void)unused;
    cleaned++;
}

static void unlock(void *lock) {
    pthread_mutex_unlock(lock);
}

static void *sleep_for_ever(void *unused) {
    for (;;)
        sleep(1000);
    return unused;
}

static void waits(int which) {
    char byte;
    pthread_t other;
    fd_set set;
    struct pollfd poll_ = {.fd = ends[0], .events = POLLIN};
    struct epoll_event event;
    struct timespec moment = {.tv_sec = 4000000000};
    switch (which) {
    case 0:
        if (read(ends[0], &byte, 1) != 1)
            abort();
        return;
    case 1:
        recv(pair[0], &byte, 1, 0);
        return;
    case 2:
        poll(&poll_, 1, -1);
        return;
    case 3:
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        select(ends[0] + 1, &set, NULL, NULL, NULL);
        return;
    case 4:
        epoll_wait(group, &event, 1, -1);
        return;
    case 5:
        sem_wait(&none);
        return;
    case 6:
        sem_timedwait(&none, &moment);
        sem_wait(&none);
        return;
    case 7:
        for (;;)
            usleep(1);
    case 8:
        pthread_create(&other, NULL, sleep_for_ever, NULL);
        pthread_detach(other);
        for (;;)
            nanosleep(&moment, NULL);
    case 9:
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push(unlock, &mutex);
        pthread_cond_timedwait(&never, &mutex, &moment);
        pthread_cond_wait(&never, &mutex);
        pthread_cleanup_pop(1);
        return;
    case 10:
        recvfrom(pair[0], &byte, 1, 0, NULL, NULL);
        return;
    case 11:
        for (;;)
            pthread_testcancel();
    case 12:
        /* Wherever it is. */
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        for (;;)
            rounds++;
    }
}

static void *waiter(void *which) {
    pthread_cleanup_push(clean, NULL);
    waits((int)(long)which);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *joiner(void *unused) {
    pthread_t sleeper;
    pthread_cleanup_push(clean, NULL);
    pthread_create(&sleeper, NULL, sleep_for_ever, NULL);
    pthread_detach(sleeper);
    pthread_t last;
    pthread_create(&last, NULL, sleep_for_ever, NULL);
    pthread_join(last, NULL);
    pthread_cleanup_pop(0);
    return unused;
}

static void *locker(void *lock) {
    pthread_mutex_lock(lock); // !deadlock
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    int only = argc > 1 ? atoi(argv[1]) : -1;
    pthread_t thread;
    void *result;
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 2;
    group = epoll_create1(0);
    epoll_ctl(group, EPOLL_CTL_ADD, ends[0], &event);
    sem_init(&none, 0, 0);
    int done = 0;
    for (long which = 0; which < 14; which++) {
        if (only >= 0 && which != only)
            continue;
        pthread_create(&thread, NULL, which < 13 ? waiter : joiner, (void *)which);
        if (pthread_cancel(thread))
            return 3;
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED || cleaned != ++done)
            return 4;
    }
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, locker, &mutex);
    pthread_cancel(thread);
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
    pthread_join(thread, &result); // !deadlock
    return result == PTHREAD_CANCELED;
}
