/* Counts its processors, in a way that is named, when there has been something to choose. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int way = -1;
static const char *const ways[] = {"sched",  "thread", "get_nprocs",  "sysconf", "syscall",
                                   "system", "popen",  "posix_spawn", "fork"};

static void *pass(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static int of_set(const cpu_set_t *set) { return CPU_COUNT(set); }

static int of_process(pid_t process) {
    int status = 0;
    waitpid(process, &status, 0);
    return WEXITSTATUS(status);
}

static int count(void) {
    char *const words[] = {"sh", "-c", "exit $(nproc)", NULL};
    cpu_set_t set;
    CPU_ZERO(&set);
    pid_t process;
    switch (way) {
    case 0: return sched_getaffinity(0, sizeof set, &set) ? -1 : of_set(&set);
    case 1: return pthread_getaffinity_np(pthread_self(), sizeof set, &set) ? -1 : of_set(&set);
    case 2: return get_nprocs();
    case 3: return (int)sysconf(_SC_NPROCESSORS_ONLN);
    case 4: return syscall(SYS_sched_getaffinity, 0, sizeof set, &set) < 0 ? -1 : of_set(&set);
    case 5: return WEXITSTATUS(system("exit $(nproc)"));
    case 6: {
        FILE *stream = popen("nproc", "r");
        int counted = -1;
        if (fscanf(stream, "%d", &counted) != 1) counted = -2;
        pclose(stream);
        return counted;
    }
    case 7: return posix_spawnp(&process, "sh", NULL, NULL, words, environ) ? -1 : of_process(process);
    case 8:
        process = fork();
        if (process) return of_process(process);
        execvp("sh", words);
        _exit(127);
    }
    return -3;
}

int main(int argc, char **argv) {
    int expected = atoi(argv[argc - 1]);
    for (int i = 0; i < 9; i++)
        if (!strcmp(argv[1], ways[i])) way = i;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, pass, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return count() == expected ? 0 : 1;
}
