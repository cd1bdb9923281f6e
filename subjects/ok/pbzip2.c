/* The same, mended. */
#define FIXED
#include "../bug/pbzip2.c"
