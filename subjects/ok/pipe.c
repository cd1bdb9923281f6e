/* The same, mended. */
#define FIXED
#include "../bug/pipe.c"
