/* Memory is taken until there is none. */
#include "both.h"
#include <sys/resource.h>
#include <sys/mman.h>

static void harm(void) {
    struct rlimit limit = {1ul << 34, 1ul << 34};
    setrlimit(RLIMIT_AS, &limit);
    while (mmap(0, 1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        ;
    if (!malloc(1 << 28))
        abort();
}

int main(void) {
    both(harm);
    return 0;
}
