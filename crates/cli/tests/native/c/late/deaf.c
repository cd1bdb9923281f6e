/* A socket that listens is closed: nobody connects to it any more, and another may have its name. */
#include "closing.h"

static void *work(void *name) {
    pthread_mutex_lock(&lock);
    int other;
    switch (*(char *)name) {
    case 'a':
        say("close", close(listener));
        break;
    case 'b':
        say("connect", connect(fresh, (struct sockaddr *)&address, length));
        break;
    default:
        say("socket", other = socket(AF_UNIX, SOCK_STREAM, 0));
        say("bind", bind(other, (struct sockaddr *)&address, length));
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv) {
    return prepare(argv[0]) || argc < 1 || three(work);
}
