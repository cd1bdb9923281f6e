/* A handler of a signal that was raised is left by a jump. */
#include "both.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;

static void jump(int signal) { siglongjmp(back, signal); }

static void harm(void) {
    signal(SIGUSR1, jump);
    if (!sigsetjmp(back, 1))
        raise(SIGUSR1);
    puts("jumped");
}

int main(void) {
    both(harm);
    return 0;
}
