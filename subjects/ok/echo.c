/* The same, mended. */
#define FIXED
#include "../bug/echo.c"
