/* What is wrong shows when the process ends, in what was registered for that. */
#define _GNU_SOURCE
#include "race.h"
#include <dlfcn.h>
#include <string.h>

static void judge_too(int code, void *argument) {
    (void)code, (void)argument;
    judge();
}

int main(int argc, char **argv) {
    int is_plain = !strcmp(argv[1], "main");
    if (!strcmp(argv[1], "atexit") || !strcmp(argv[1], "exit")) atexit(judge);
    if (!strcmp(argv[1], "on_exit")) on_exit(judge_too, NULL);
    race();
    if (!strcmp(argv[1], "late")) atexit(judge);
    if (!strcmp(argv[1], "loaded")) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        if (!library) return 7;
        *(int **)dlsym(library, "judged") = &first;
    }
    if (!strcmp(argv[1], "exit")) exit(0);
    if (is_plain) judge();
    return 0;
}
