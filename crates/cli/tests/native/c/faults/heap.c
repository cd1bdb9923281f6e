/* The heap's own words are overwritten, past what any hook sees. */
#include "both.h"

static void harm(void) {
    void *block = malloc(64);
    size_t size = 256;
    char *at = (char *)block - 16;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(0x41) : "memory");
    free(malloc(5000));
}

int main(void) {
    both(harm);
    return 0;
}
