/* The same, mended. */
#define FIXED
#include "../bug/seek_to_item.c"
