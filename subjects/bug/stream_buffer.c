// A buffer that is handed to a stream while another thread fills it. Ours; no paper. Two threads, no lock; one reads the
// buffer inside of fwrite, the other writes it inside of fread.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static char source[] = "0123456789abcdef";
static char buffer[8];
static sem_t full;

static void *fill(void *stream) {
    fread(buffer, 1, sizeof buffer, stream); // !race
    sem_post(&full);
    return 0;
}

static void *drain(void *stream) {
#ifdef FIXED
    sem_wait(&full);
#endif
    fwrite(buffer, 1, sizeof buffer, stream); // !race
    return 0;
}

int main(void) {
    FILE *in = fmemopen(source, sizeof source, "r");
    pthread_t threads[2];
    sem_init(&full, 0, 0);
    pthread_create(&threads[0], 0, fill, in);
    pthread_create(&threads[1], 0, drain, stdout);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    fclose(in);
    return 0;
}
