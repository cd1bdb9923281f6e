/* A socket with the name of a file, which stays when the socket is closed. */
#include "both.h"
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

static void harm(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "/tmp/raddle-fault-%d", getpid());
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(made, (struct sockaddr *)&name, sizeof name))
        abort();
    close(made);
    unlink(name.sun_path);
}

int main(void) {
    both(harm);
    return 0;
}
