/* The same, mended. */
#define FIXED
#include "../bug/pfscan.c"
