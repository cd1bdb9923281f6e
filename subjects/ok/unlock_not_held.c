/* The same, mended. */
#define FIXED
#include "../bug/unlock_not_held.c"
