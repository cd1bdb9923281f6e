// One line that two callers come to, and another thread that looks at what it sets. `wide` sets it as a part of a
// structure that is copied.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct record {
    long words[4];
};

static atomic_int flag;
static struct record shared;
static long seen;

static void set(void) {
    atomic_store(&flag, 1);
}

static void set_early(void) {
    set();
}

static void set_late(void) {
    set();
}

static void *twice(void *unused) {
    set_early();
    set_late();
    return unused;
}

static void *copy(void *unused) {
    struct record mine = {{1, 2, 3, 4}};
    memcpy(&shared, &mine, sizeof shared);
    return unused;
}

int main(int count, char **arguments) {
    int wide = count > 1 && strcmp(arguments[1], "wide") == 0;
    pthread_t other;
    pthread_create(&other, NULL, wide ? copy : twice, NULL);
    if (wide) {
        seen = shared.words[2];
    } else {
        seen = atomic_load(&flag);
    }
    pthread_join(other, NULL);
    return 0;
}
