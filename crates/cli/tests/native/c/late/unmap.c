/* What was mapped before the first thread is given back in about half of all runs. */
#include "../faults/both.h"
#include <sys/mman.h>

static char *mapped;

static void harm(void) { munmap(mapped, 1 << 20); }

int main(void) {
    mapped = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped[5] = 1;
    both(harm);
    return 0;
}
