/* The same, mended. */
#define FIXED
#include "../bug/rwlock_upgrade.c"
