/* The same, mended. */
#define FIXED
#include "../bug/read_write_proc.c"
