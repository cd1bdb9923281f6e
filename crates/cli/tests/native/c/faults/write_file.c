/* A file is made, which would be there in the next run. */
#include "both.h"
#include <fcntl.h>
#include <stdio.h>

static void harm(void) {
    char name[] = "/tmp/raddle-fault-XXXXXX";
    int fd = mkstemp(name);
    close(fd);
    unlink(name);
    puts("made and removed");
}

int main(void) {
    both(harm);
    return 0;
}
