/* What calls have said, printed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static long say(const char *call, long value) {
    printf("%s %ld %s\n", call, value, value < 0 ? strerrorname_np(errno) : "");
    fflush(stdout);
    return value;
}

static void show(const char *call, const char *bytes, long count) {
    printf("%s %ld %.*s %s\n", call, count, count > 0 && count < 64 ? (int)count : 0, bytes,
           count < 0 ? strerrorname_np(errno) : "");
    fflush(stdout);
}

static void get(int fd, int size, int flags) {
    char bytes[64] = "";
    show("recv", bytes, recv(fd, bytes, size, flags));
}
