/* All descriptors are closed, those that are none of the program's business too. */
#include "both.h"

static void harm(void) {
    for (int fd = 0; fd < 1100; fd++)
        close(fd);
}

int main(void) {
    both(harm);
    return 0;
}
