/* The same, mended. */
#define FIXED
#include "../bug/aget.c"
