// Writes, and looks at what it has written in every way that there is: what is kept back must not show. Which thread comes first
// is the schedule's choice, and shows in all numbers.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// No memory is there.
static void *volatile nowhere = (void *)8;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(const char *text) {
    if (write(1, text, strlen(text)) != (ssize_t)strlen(text))
        dprintf(2, "not all of it\n");
}

static void look(const char *name) {
    struct stat about;
    char bytes[64];
    put(name);
    fstat(1, &about);
    dprintf(2, "%s: size %ld, place %ld\n", name, (long)about.st_size, (long)lseek(1, 0, SEEK_CUR));
    put("more");
    errno = 0;
    ssize_t bad = write(1, nowhere, 4);
    dprintf(2, "nothing there: %zd %d, %zd\n", bad, errno, write(1, bytes, 0));
    ssize_t read = pread(1, bytes, sizeof bytes, 0);
    dprintf(2, "read back: %.*s\n", read > 0 ? (int)read : 0, bytes);
    printf("%.3f of a stream\n", read / 7.0);
    fflush(stdout);
}

static void look_around(const char *name) {
    char bytes[64];
    int other = dup(1), again = open("/proc/self/fd/1", O_RDONLY);
    put(name);
    ssize_t length = read(again, bytes, sizeof bytes);
    dprintf(2, "by another way: %.*s\n", length > 0 ? (int)length : 0, bytes);
    if (write(other, "other", 5) != 5)
        dprintf(2, "not all of it\n");
    put(name);
    dprintf(2, "in the end %ld\n", (long)lseek(other, 0, SEEK_CUR));
    close(again);
    close(other);
}

static void *begin(void *name) {
    pthread_mutex_lock(&lock);
    look(name);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    look_around(name);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    put("before the threads\n");
    pthread_create(&threads[0], NULL, begin, "one");
    pthread_create(&threads[1], NULL, begin, "another");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
