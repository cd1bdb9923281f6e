/* zstd's multithreaded compressor: two workers, two jobs, and back again. */
#include "result.h"
#include "zstd.h"
#include <string.h>

enum { SIZE = 530000 };

static char text[SIZE], packed[SIZE + 4096], unpacked[SIZE];

int main(void) {
    fill(text, SIZE);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 1);
    size_t set = ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 2);
    need(!ZSTD_isError(set), "no workers");
    size_t size = ZSTD_compress2(context, packed, sizeof packed, text, SIZE);
    need(!ZSTD_isError(size), "not compressed");
    ZSTD_freeCCtx(context);
    need(ZSTD_decompress(unpacked, SIZE, packed, size) == SIZE && !memcmp(text, unpacked, SIZE), "not the same");
    return result(packed, size);
}
