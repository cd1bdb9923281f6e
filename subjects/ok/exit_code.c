/* The same, mended. */
#define FIXED
#include "../bug/exit_code.c"
