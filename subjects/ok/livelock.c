/* The same, mended. */
#define FIXED
#include "../bug/livelock.c"
