/* The same, mended. */
#define FIXED
#include "../bug/c11_threads.c"
