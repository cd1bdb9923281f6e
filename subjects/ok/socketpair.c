/* The same, mended. */
#define FIXED
#include "../bug/socketpair.c"
