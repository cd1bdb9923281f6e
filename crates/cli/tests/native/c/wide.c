/* One thread copies a structure while another looks at the last byte of the copy, changes the last byte of the original, and looks
 * again; or looks once, and a third one changes it. The copy is a read and a write of many words; all that can come out of it has to do
 * with the last one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SIZES(each) each(3) each(8) each(12) each(16) each(24) each(64)

#define STRUCTURE(size) static struct { char bytes[size]; } from##size, to##size;
SIZES(STRUCTURE)

static int size, apart, seen[2];

static void *copy(void *unused) {
#define COPY(n) if (size == n) to##n = from##n;
    SIZES(COPY)
    return unused;
}

static void *look(void *unused) {
#define LOOK(n) \
    if (size == n) { \
        seen[0] = to##n.bytes[n - 1]; \
        if (apart) \
            return unused; \
        from##n.bytes[n - 1] = 2; \
        seen[1] = to##n.bytes[n - 1]; \
    }
    SIZES(LOOK)
    return unused;
}

static void *change(void *unused) {
#define CHANGE(n) if (size == n) from##n.bytes[n - 1] = 2;
    SIZES(CHANGE)
    return unused;
}

int main(int argc, char **argv) {
    size = argc > 2 ? atoi(argv[1]) : 12;
    apart = argc > 3;
    int last = 0;
#define FILL(n) if (size == n) from##n.bytes[n - 1] = 1;
    SIZES(FILL)
    pthread_t one, other, third;
    pthread_create(&one, 0, copy, 0);
    pthread_create(&other, 0, look, 0);
    if (apart) {
        pthread_create(&third, 0, change, 0);
        pthread_join(third, 0);
    }
    pthread_join(one, 0);
    pthread_join(other, 0);
#define LAST(n) if (size == n) last = to##n.bytes[n - 1];
    SIZES(LAST)
    if (seen[0] * 100 + seen[1] * 10 + last == atoi(argv[argc - 1]))
        abort();
    return 0;
}
