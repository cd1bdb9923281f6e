/* The same, mended. */
#define FIXED
#include "../bug/full_pipe.c"
