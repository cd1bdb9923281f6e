/* The same, mended. */
#define FIXED
#include "../bug/fundmanagers.c"
