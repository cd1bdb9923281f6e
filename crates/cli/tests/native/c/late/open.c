/* A pipe and a file that are open before the first thread: how far they are read is the kernel's, and not put back. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int file, ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *argument) {
    char byte[2];
    pthread_mutex_lock(&lock);
    if (read(ends[0], &byte[0], 1) == 1 && read(file, &byte[1], 1) == 1)
        printf("%s %c%c\n", (char *)argument, byte[0], byte[1]);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv) {
    file = open(argv[0], O_RDONLY);
    if (argc < 1 || file < 0 || pipe(ends) || write(ends[1], "xy", 2) != 2)
        return 1;
    pthread_t one, other;
    pthread_create(&one, 0, reader, "one");
    pthread_create(&other, 0, reader, "other");
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
