/* A server with a thread for each connection, which counts what it has answered: it reads the counter, answers, and then writes it. Connections
 * are closed while others are made, so numbers of files are given out again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static int listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t length = sizeof(sa_family_t);
static atomic_int answered;

static void *answer(void *connection) {
    int fd = (int)(long)connection;
    char bytes[32];
    ssize_t size;
    while ((size = read(fd, bytes, sizeof bytes)) > 0) {
#ifdef FIXED
        answered++;
        if (write(fd, bytes, size) != size)
            abort();
#else
        int before = answered;
        if (write(fd, bytes, size) != size)
            abort();
        answered = before + 1;
#endif
    }
    close(fd);
    return NULL;
}

static void *serve(void *unused) {
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        long fd = accept(listener, NULL, NULL);
        if (fd < 0 || pthread_create(&threads[i], NULL, answer, (void *)fd))
            abort();
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    return unused;
}

static void *ask(void *unused) {
    char bytes[8];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) || write(fd, "ping", 4) != 4)
        abort();
    if (read(fd, bytes, sizeof bytes) != 4 || memcmp(bytes, "ping", 4))
        abort();
    close(fd);
    return unused;
}

int main(void) {
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length))
        return 2;
    length = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &length) || listen(listener, 4))
        return 2;
    pthread_t server, clients[CLIENTS];
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, ask, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_join(server, NULL);
    close(listener);
    assert(answered == CLIENTS); // !assertion
    return 0;
}
