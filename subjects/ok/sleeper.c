/* The same, mended. */
#define FIXED
#include "../bug/sleeper.c"
