/* The same, mended. */
#define FIXED
#include "../bug/wide_atomic.c"
