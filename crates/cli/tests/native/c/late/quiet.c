/* The same, but that nothing is written before there are threads. */
#define QUIET
#include "much.c"
