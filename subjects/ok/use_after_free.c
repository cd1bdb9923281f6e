/* The same, mended. */
#define FIXED
#include "../bug/use_after_free.c"
