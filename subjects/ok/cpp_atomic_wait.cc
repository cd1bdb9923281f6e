// The same, mended.
#define FIXED
#include "../bug/cpp_atomic_wait.cc"
