/* The same, mended. */
#define FIXED
#include "../bug/thread_manager.c"
