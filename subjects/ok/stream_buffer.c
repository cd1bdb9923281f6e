/* The same, mended: the one waits until the other has filled the buffer. */
#define FIXED
#include "../bug/stream_buffer.c"
