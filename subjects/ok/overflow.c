/* The same, mended. */
#define FIXED
#include "../bug/overflow.c"
