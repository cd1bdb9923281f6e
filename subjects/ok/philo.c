/* The same, mended. */
#define FIXED
#include "../bug/philo.c"
