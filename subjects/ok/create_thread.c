/* The same, mended. */
#define FIXED
#include "../bug/create_thread.c"
