/* A loop without end in which no hook is called. */
#include "both.h"

static void harm(void) {
    for (;;)
        __asm__ volatile("pause");
}

int main(void) {
    both(harm);
    return 0;
}
