/* The same, and one of them is closed in some runs. */
#define CLOSES
#include "kept.c"
