/* The same, mended. */
#define FIXED
#include "../bug/semaphore.c"
