/* The process moves to another directory. */
#include "both.h"

static void harm(void) {
    if (chdir("/"))
        abort();
}

int main(void) {
    both(harm);
    return 0;
}
