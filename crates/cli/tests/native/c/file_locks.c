// Threads that hold locks on files against each other.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static char names[2][24] = {"/tmp/raddle-lock-XXXXXX", "/tmp/raddle-lock-XXXXXX"};
static const char *how;
static int counter;

static int take(int file) {
    int fd = open(names[file], O_RDWR);
    if (strcmp(how, "opened") == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        assert(fcntl(fd, F_OFD_SETLKW, &lock) == 0);
    } else {
        assert(flock(fd, LOCK_EX) == 0);
    }
    return fd;
}

static void give(int fd) {
    // To close it gives it back, too.
    if (strcmp(how, "flock") == 0) assert(flock(fd, LOCK_UN) == 0);
    close(fd);
}

static void *count(void *unused) {
    int fd = take(0);
    counter++;
    give(fd);
    return unused;
}

static void *cross(void *other) {
    int first = other != NULL, fd = take(first);
    give(take(!first));
    give(fd);
    return NULL;
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "flock";
    for (int file = 0; file < 2; file++) close(mkstemp(names[file]));
    pthread_t threads[2];
    void *(*work)(void *) = strcmp(how, "crossed") == 0 ? cross : count;
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, threads);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int file = 0; file < 2; file++) unlink(names[file]);
    assert(counter == 2 || work == cross);
    return 0;
}
