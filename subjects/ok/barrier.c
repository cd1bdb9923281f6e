/* The same, mended. */
#define FIXED
#include "../bug/barrier.c"
