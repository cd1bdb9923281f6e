/* The same, mended. */
#define FIXED
#include "../bug/join_each_other.c"
