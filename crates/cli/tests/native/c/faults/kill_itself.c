/* The process is killed, and nobody can catch that. */
#include "both.h"
#include <signal.h>

static void harm(void) { kill(getpid(), SIGKILL); }

int main(void) {
    both(harm);
    return 0;
}
