/* The same, mended. */
#define FIXED
#include "../bug/timer_thread.c"
