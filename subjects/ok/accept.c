/* The same, mended. */
#define FIXED
#include "../bug/accept.c"
