/* A child process, which is waited for. */
#include "both.h"
#include <stdio.h>
#include <sys/wait.h>

static void harm(void) {
    int child = fork(), status = 0;
    if (!child)
        _exit(3);
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
}

int main(void) {
    both(harm);
    return 0;
}
