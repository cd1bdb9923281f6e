// One line that two callers come to, and another thread that looks at what it sets. `wide` sets it as a part of a
// structure that is copied, `copies` two times from two callers; `often` goes both ways more than once.
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

static void fill(long word) {
    struct record filled = {{word, word, word, word}};
    memcpy(&shared, &filled, sizeof filled);
}

static void fill_early(void) {
    fill(1);
}

static void fill_late(void) {
    fill(2);
}

static void *copies(void *unused) {
    fill_early();
    fill_late();
    return unused;
}

static void *often(void *unused) {
    twice(NULL);
    set_late();
    twice(NULL);
    return unused;
}

static void look(void) {
    seen += atomic_load(&flag);
}

static void look_again(void) {
    look();
    look();
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    int wide = strcmp(how, "wide") == 0, many = strcmp(how, "copies") == 0, more = strcmp(how, "often") == 0;
    pthread_t other;
    pthread_create(&other, NULL, wide ? copy : many ? copies : more ? often : twice, NULL);
    if (wide || many) {
        seen = shared.words[2];
    } else if (more) {
        look();
        look_again();
    } else {
        seen = atomic_load(&flag);
    }
    pthread_join(other, NULL);
    return 0;
}
