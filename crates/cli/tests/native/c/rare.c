/* Fails if six threads come in the one order out of 720 that is wrong. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int came;
static int order[6];

static void *come(void *number) {
    pthread_mutex_lock(&mutex);
    order[came++] = (int)(long)number;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[6];
    for (long i = 0; i < 6; i++) pthread_create(&threads[i], NULL, come, (void *)i);
    for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
    const int wrong[6] = {3, 5, 1, 4, 0, 2};
    int right = 0;
    for (int i = 0; i < 6; i++) right += order[i] != wrong[i];
    assert(right);
    return 0;
}
