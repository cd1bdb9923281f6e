/* Many mappings, never given back. */
#include "both.h"
#include <sys/mman.h>

static void harm(void) {
    for (int i = 0; i < 500; i++)
        *(char *)mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

int main(void) {
    both(harm);
    return 0;
}
