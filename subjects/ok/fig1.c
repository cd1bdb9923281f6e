/* The same, mended. */
#define FIXED
#include "../bug/fig1.c"
