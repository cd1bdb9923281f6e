/* The same, mended. */
#define FIXED
#include "../bug/timedwait.c"
