/* The same, mended. */
#define FIXED
#include "../bug/update_timer.c"
