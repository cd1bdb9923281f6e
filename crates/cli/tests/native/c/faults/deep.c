/* The stack is used up. */
#include "both.h"

static int deeper(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return deeper(depth + 1) + room[0];
}

static void harm(void) { deeper(0); }

int main(void) {
    both(harm);
    return 0;
}
