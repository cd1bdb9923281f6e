/* The allocator finds its own words destroyed, and aborts inside of itself. */
#include "both.h"
#include <string.h>

static void harm(void) {
    char *block = malloc(1 << 17);
    char *top = (char *)sbrk(0) - 4096;
    for (char *at = block; at < top; at += 8)
        __asm__ volatile("movq $-1, (%0)" : : "r"(at) : "memory");
    for (int i = 0; i < 100; i++)
        free(malloc(3000 + 100 * i));
}

int main(void) {
    both(harm);
    return 0;
}
