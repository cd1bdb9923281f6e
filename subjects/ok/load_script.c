/* The same, mended. */
#define FIXED
#include "../bug/load_script.c"
