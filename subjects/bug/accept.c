/* A server that accepts one connection more than there are clients. */
#include "pair.h"
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef FIXED
enum { EXPECTED = 1 };
#else
enum { EXPECTED = 2 };
#endif

static int listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t length = sizeof(sa_family_t);

static void *server(void *unused) {
    for (int i = 0; i < EXPECTED; i++) {
        char byte;
        int fd = accept(listener, NULL, NULL); // !deadlock
        if (fd < 0 || recv(fd, &byte, 1, 0) != 1)
            abort();
        close(fd);
    }
    return unused;
}

static void *client(void *unused) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) || send(fd, "x", 1, 0) != 1)
        abort();
    close(fd);
    return unused;
}

int main(void) {
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    /* An address that the kernel makes up, so that two runs at a time do not meet. */
    if (bind(listener, (struct sockaddr *)&address, length))
        return 2;
    length = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &length) || listen(listener, 4))
        return 2;
    pair(server, client);
    close(listener);
    return 0;
}
