/* The same, mended. */
#define FIXED
#include "../bug/wronglock.c"
