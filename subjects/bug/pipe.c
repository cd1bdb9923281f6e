/* Two threads talk through pipes; both wait for the other to begin. */
#include "pair.h"
#include <unistd.h>

static int to_one[2], to_two[2];

static void *one(void *unused) {
    char byte = 1;
#ifdef FIXED
    if (write(to_two[1], &byte, 1) != 1)
        abort();
#endif
    if (read(to_one[0], &byte, 1) != 1) // !deadlock
        abort();
#ifndef FIXED
    if (write(to_two[1], &byte, 1) != 1)
        abort();
#endif
    return unused;
}

static void *two(void *unused) {
    char byte;
    if (read(to_two[0], &byte, 1) != 1) // !deadlock
        abort();
    if (write(to_one[1], &byte, 1) != 1)
        abort();
    return unused;
}

int main(void) {
    if (pipe(to_one) || pipe(to_two))
        return 2;
    pair(one, two);
    return 0;
}
