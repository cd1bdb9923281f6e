/* The same, mended. */
#define FIXED
#include "../bug/robust.c"
