// The same, mended.
#define FIXED
#include "../bug/cpp_condition_variable_any.cc"
