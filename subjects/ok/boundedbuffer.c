/* The same, mended. */
#define FIXED
#include "../bug/boundedbuffer.c"
