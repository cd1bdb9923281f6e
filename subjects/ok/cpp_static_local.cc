// The same, mended.
#define FIXED
#include "../bug/cpp_static_local.cc"
