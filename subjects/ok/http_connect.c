/* The same, mended. */
#define FIXED
#include "../bug/http_connect.c"
