/* What was written before the first thread is written over in about half of all runs. */
#include "../faults/both.h"
#include <string.h>

static void say(const char *what) {
    if (write(1, what, strlen(what)) < 0)
        abort();
}

static void harm(void) {
    lseek(1, 0, SEEK_SET);
    say("B");
}

int main(void) {
    say("A\n");
    both(harm);
    return 0;
}
