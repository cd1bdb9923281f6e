// Threads one after another: each is joined before the next is made. The process must not gather kernel threads, and
// a stack that was given back must be nobody's when it is used again.
#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

static int alive(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void *work(void *argument) {
    // What is left of the thread before must not change under our feet.
    volatile char room[4096];
    for (int at = 0; at < 4096; at++) room[at] = (char)at;
    for (int at = 0; at < 4096; at++) assert(room[at] == (char)at);
    if (*(int *)argument % 100 == 0) printf("%p %p\n", (void *)room, (void *)pthread_self());
    return argument;
}

int main(void) {
    for (int number = 0; number < 500; number++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) assert(pthread_create(&threads[i], 0, work, &number) == 0);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    }
    // A thread that has ended may be seen for a moment.
    assert(alive() <= 2);
    return 0;
}
