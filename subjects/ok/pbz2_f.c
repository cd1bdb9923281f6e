/* The same, mended. */
#define FIXED
#include "../bug/pbz2_f.c"
