// The same, mended.
#define FIXED
#include "../bug/cpp_cancel.cc"
