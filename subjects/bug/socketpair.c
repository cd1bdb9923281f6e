/* Client and server over a socket pair, with poll: each polls for the other's first word. */
#include "pair.h"
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static int ends[2];

static void hear(int fd, const char *expected) {
    char word[8] = "";
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (poll(&poll_fd, 1, -1) != 1 || recv(fd, word, sizeof word, 0) <= 0) // !deadlock
        abort();
    if (strcmp(word, expected))
        abort();
}

static void say(int fd, const char *word) {
    if (send(fd, word, strlen(word) + 1, 0) < 0)
        abort();
}

static void *client(void *unused) {
#ifdef FIXED
    say(ends[0], "hello");
    hear(ends[0], "welcome");
#else
    hear(ends[0], "welcome");
    say(ends[0], "hello");
#endif
    return unused;
}

static void *server(void *unused) {
    hear(ends[1], "hello");
    say(ends[1], "welcome");
    return unused;
}

int main(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 2;
    pair(client, server);
    return 0;
}
