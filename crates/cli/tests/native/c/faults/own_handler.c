/* The program's own handler of a fault jumps out of it. */
#include "both.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;

static void jump(int signal) { siglongjmp(back, signal); }

static void harm(void) {
    signal(SIGSEGV, jump);
    if (!sigsetjmp(back, 1))
        *(volatile int *)0 = 1;
    puts("caught");
}

int main(void) {
    both(harm);
    return 0;
}
