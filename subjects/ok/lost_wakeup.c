/* The same, mended. */
#define FIXED
#include "../bug/lost_wakeup.c"
