/* The same, mended. */
#define FIXED
#include "../bug/counter.c"
