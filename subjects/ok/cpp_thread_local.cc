// The same, mended.
#define FIXED
#include "../bug/cpp_thread_local.cc"
