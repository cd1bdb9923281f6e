/* The same, mended. */
#define FIXED
#include "../bug/epoll.c"
