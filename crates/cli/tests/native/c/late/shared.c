/* Memory that others could share, mapped before the first thread: it is not put back. */
#include "../faults/both.h"
#include <stdio.h>
#include <sys/mman.h>

static int *count;

static void harm(void) { printf("%d\n", ++*count); }

int main(void) {
    count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    both(harm);
    printf("%d\n", *count);
    return 0;
}
