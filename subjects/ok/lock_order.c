/* The same, mended. */
#define FIXED
#include "../bug/lock_order.c"
