/* The same, mended. */
#define FIXED
#include "../bug/many_threads.c"
