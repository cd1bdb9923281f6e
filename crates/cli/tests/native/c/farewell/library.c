/* Has something to do when it ends. */
#include <stdlib.h>

int *judged;

__attribute__((destructor)) static void end(void) {
    if (judged && *judged == 2) abort();
}
