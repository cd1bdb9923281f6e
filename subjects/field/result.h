/* What a job has made, as an exit code: other bytes, in all likelihood another code. */
#ifndef RESULT_H
#define RESULT_H
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static int result(const void *bytes, size_t size) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    printf("%zu bytes, %08x\n", size, hash);
    return (int)((hash ^ hash >> 16) % 200) + 10;
}

static void need(int right, const char *what) {
    if (!right) {
        fprintf(stderr, "%s\n", what);
        exit(5);
    }
}

/* Text of eight letters that compresses, and not too well. */
static void fill(char *text, size_t size) {
    unsigned state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1103515245u + 12345u;
        text[i] = "abcdefgh"[(state >> 16) % (i % 64 < 32 ? 8 : 2)];
    }
}
#endif
