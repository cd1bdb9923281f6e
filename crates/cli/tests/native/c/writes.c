/* A thread that writes the same again and again, and is not waited for: it ends with the process. */
#include <pthread.h>

static int word;

static void *write_on(void *unused) {
    for (;;)
        word = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_on, 0);
    return 0;
}
