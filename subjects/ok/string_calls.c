/* The same, mended: both hold a lock. */
#define FIXED
#include "../bug/string_calls.c"
