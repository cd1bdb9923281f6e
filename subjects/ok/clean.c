/* The same, mended. */
#define FIXED
#include "../bug/clean.c"
