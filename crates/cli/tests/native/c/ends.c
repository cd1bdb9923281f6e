/* One way to end for each argument, in a thread. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *how;
static int code = 3;
static volatile int forever;

static int deep(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? room[0] : deep(depth + 1) + room[0];
}

static void *work(void *argument) {
    if (!strcmp(how, "exit")) exit(code);
    if (!strcmp(how, "_exit")) _exit(4);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "null")) *(volatile int *)argument = 1;
    if (!strcmp(how, "stack")) deep(0);
    if (!strcmp(how, "spin")) __asm__ volatile("1: jmp 1b");
    if (!strcmp(how, "wait")) while (!forever) {}
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) exit(7);
        int status;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) abort();
    }
    if (!strcmp(how, "print")) {
        for (int i = 0; i < 200000; i++) printf("a line of some length, number %d\n", i);
    }
    if (!strcmp(how, "copy")) {
        char *text = malloc(8);
        memcpy(text, "123456789", (size_t)10);
        free(text);
    }
    if (!strcmp(how, "orphan")) {
        if (fork() == 0) {
            for (;;) pause();
        }
    }
    return NULL;
}

static void *other(void *argument) { return argument; }

int main(int argc, char **argv) {
    pthread_t thread, second;
    how = argc > 1 ? argv[1] : "";
    if (argc > 2) code = atoi(argv[2]);
    pthread_create(&thread, NULL, work, NULL);
    pthread_create(&second, NULL, other, NULL);
    pthread_join(thread, NULL);
    pthread_join(second, NULL);
    if (!strcmp(how, "input")) {
        char line[64];
        if (!fgets(line, sizeof line, stdin) || strcmp(line, "hello\n")) return 9;
    }
    return 0;
}
