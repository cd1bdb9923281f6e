/* All variables are overwritten, ours too. */
#include "both.h"

extern char __bss_start, end;

static void harm(void) {
    char *at = &__bss_start;
    size_t size = &end - &__bss_start;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(0x55) : "memory");
}

int main(void) {
    both(harm);
    return 0;
}
