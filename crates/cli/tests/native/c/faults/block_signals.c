/* All signals are blocked, and one waits. */
#include "both.h"
#include <signal.h>
#include <stdio.h>

static void harm(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    puts("blocked");
}

int main(void) {
    both(harm);
    return 0;
}
