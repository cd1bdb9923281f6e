/* The same, mended. */
#define FIXED
#include "../bug/node_state.c"
