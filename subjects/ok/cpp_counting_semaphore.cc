// The same, mended.
#define FIXED
#include "../bug/cpp_counting_semaphore.cc"
