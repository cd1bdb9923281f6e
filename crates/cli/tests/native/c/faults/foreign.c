/* What malloc never gave out is freed. */
#include "both.h"

static char bytes[100];

static void harm(void) { free(bytes + 8); }

int main(void) {
    both(harm);
    return 0;
}
