/* Two threads append to an array that has room for what each of them alone would write. */
#include "pair.h"
#include <stdlib.h>

enum { ROOM = 4 };
static int *array, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *append(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    int room = used + 3 <= ROOM;
    for (int i = 0; room && i < 3; i++)
        array[used++] = i;
    pthread_mutex_unlock(&lock);
#else
    int room = used + 3 <= ROOM;
    pthread_mutex_unlock(&lock);
    for (int i = 0; room && i < 3; i++) {
        pthread_mutex_lock(&lock);
        array[used++] = i; // !memory
        pthread_mutex_unlock(&lock);
    }
#endif
    return unused;
}

int main(void) {
    array = malloc(ROOM * sizeof *array); // !memory
    pair(append, append);
    free(array);
    return 0;
}
