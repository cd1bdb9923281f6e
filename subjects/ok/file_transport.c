/* The same, mended. */
#define FIXED
#include "../bug/file_transport.c"
