// The same, mended.
#define FIXED
#include "../bug/cpp_exception_ptr.cc"
