/* Memory that was there before is protected and given back. */
#include "both.h"
#include <sys/mman.h>

static char pages[3 * 4096] __attribute__((aligned(4096)));

static void harm(void) {
    pages[0] = 1;
    mprotect(pages, 4096, PROT_READ);
    madvise(pages + 4096, 4096, MADV_DONTNEED);
}

int main(void) {
    both(harm);
    return 0;
}
