/* A filter that writes everything before it reads the answer: both pipes are full, and both sides write. */
#include "pair.h"
#include <string.h>
#include <unistd.h>

enum { CHUNK = 32768, CHUNKS = 6 };
static int there[2], back[2];

static void send_all(int fd) {
    char chunk[CHUNK];
    memset(chunk, 'x', sizeof chunk);
    for (int i = 0; i < CHUNKS; i++)
        for (size_t sent = 0; sent < sizeof chunk;) {
            ssize_t count = write(fd, chunk + sent, sizeof chunk - sent); // !deadlock
            if (count <= 0)
                abort();
            sent += (size_t)count;
        }
}

static void receive_all(int fd) {
    char chunk[CHUNK];
    for (size_t received = 0; received < (size_t)CHUNK * CHUNKS;) {
        ssize_t count = read(fd, chunk, sizeof chunk);
        if (count <= 0)
            abort();
        received += (size_t)count;
    }
}

static void *client(void *unused) {
    send_all(there[1]);
    receive_all(back[0]);
    return unused;
}

static void *filter(void *unused) {
#ifdef FIXED
    receive_all(there[0]);
    send_all(back[1]);
#else
    send_all(back[1]);
    receive_all(there[0]);
#endif
    return unused;
}

int main(void) {
    if (pipe(there) || pipe(back))
        return 2;
    pair(client, filter);
    return 0;
}
