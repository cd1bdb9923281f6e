// The same, mended.
#define FIXED
#include "../bug/cpp_call_once.cc"
