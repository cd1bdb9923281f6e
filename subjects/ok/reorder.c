/* The same, mended. */
#define FIXED
#include "../bug/reorder.c"
