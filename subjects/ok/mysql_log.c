/* The same, mended. */
#define FIXED
#include "../bug/mysql_log.c"
