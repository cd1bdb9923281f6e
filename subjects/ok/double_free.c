/* The same, mended. */
#define FIXED
#include "../bug/double_free.c"
