/* Before the first thread there are a file, a counter, a group with a member of its own, a socket that listens and one that nothing was
 * done to. Threads close them, and open others that get the same numbers: the next run must find what was there. */
#include "closing.h"

static void *work(void *name) {
    pthread_mutex_lock(&lock);
    char bytes[4];
    uint64_t number = 5;
    turn++;
    switch (*(char *)name) {
    case 'a':
        say("close group", close(group));
        say("close counter", close(counter));
        say("close again", close(counter));
        break;
    case 'b':
        if (turn > 1) {
            say("pipe", pipe(ends));
            say("write", write(ends[1], "some", 4));
        }
        say("close file", close(file));
        say("open", file = open("/dev/zero", O_RDONLY | O_CLOEXEC));
        break;
    default:
        say("flags", fcntl(file, F_GETFD));
        say("read", read(file, bytes, turn));
        say("write", write(counter, &number, 8));
        say("close listener", close(listener));
        say("close fresh", close(fresh));
        say("socket", socket(AF_UNIX, SOCK_STREAM, 0));
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv) {
    return prepare(argv[0]) || argc < 1 || three(work);
}
