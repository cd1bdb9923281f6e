/* The same, mended. */
#define FIXED
#include "../bug/twostage.c"
