/* The same, mended. */
#define FIXED
#include "../bug/cancel_points.c"
