/* The same, mended. */
#define FIXED
#include "../bug/eventfd.c"
