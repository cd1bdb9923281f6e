/* xz's threaded encoder: two threads, four blocks, and back again. */
#include "result.h"
#include <lzma.h>
#include <string.h>

enum { SIZE = 16384 };

static char text[SIZE], packed[2 * SIZE], unpacked[SIZE];

int main(void) {
    fill(text, SIZE);
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_mt how = {.threads = 2, .block_size = SIZE / 4, .preset = 0, .check = LZMA_CHECK_CRC32};
    need(lzma_stream_encoder_mt(&stream, &how) == LZMA_OK, "no encoder");
    stream.next_in = (unsigned char *)text;
    stream.avail_in = SIZE;
    stream.next_out = (unsigned char *)packed;
    stream.avail_out = sizeof packed;
    need(lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END, "not compressed");
    size_t size = stream.total_out;
    lzma_end(&stream);
    uint64_t memory = UINT64_MAX;
    size_t in = 0, out = 0;
    lzma_ret ret = lzma_stream_buffer_decode(&memory, 0, NULL, (unsigned char *)packed, &in, size,
                                             (unsigned char *)unpacked, &out, SIZE);
    need(ret == LZMA_OK && out == SIZE && !memcmp(text, unpacked, SIZE), "not the same");
    return result(packed, size);
}
