/* Whoever is first decides whether the program ends: if it is the other thread, which looks three times before, that one
   goes round for ever. With an argument no run ends. Main may be called again. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first, endless;

static int take(int me) {
    pthread_mutex_lock(&mutex);
    if (!first) first = me;
    int now = first;
    pthread_mutex_unlock(&mutex);
    return now;
}

static void *other(void *unused) {
    for (int round = 0; round < 3; round++)
        if (take(0) && !endless) return unused;
    while (take(2) == 2 || endless) {
    }
    return unused;
}

int main(int count, char **arguments) {
    pthread_t thread;
    (void)arguments;
    first = 0;
    endless = count > 1;
    pthread_create(&thread, NULL, other, NULL);
    take(1);
    pthread_join(thread, NULL);
    return 0;
}
