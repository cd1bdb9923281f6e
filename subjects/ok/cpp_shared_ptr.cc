// The same, mended.
#define FIXED
#include "../bug/cpp_shared_ptr.cc"
