/* The same, mended. */
#define FIXED
#include "../bug/open_input_stream.c"
