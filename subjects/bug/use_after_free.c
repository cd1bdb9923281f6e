/* A request is freed by whoever answers it, while its maker may still look at it. */
#include "pair.h"
#include <stdlib.h>

struct request {
    pthread_mutex_t lock;
    int answered;
};
static struct request *request;
static int seen;

static void *answer(void *unused) {
    pthread_mutex_lock(&request->lock);
    request->answered = 1;
    pthread_mutex_unlock(&request->lock);
#ifndef FIXED
    free(request); // !race !memory
#endif
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&request->lock); // !memory !race
    seen = request->answered;           // !memory !race
    pthread_mutex_unlock(&request->lock); // !memory !race
    return unused;
}

int main(void) {
    request = calloc(1, sizeof *request); // !memory
    pthread_mutex_init(&request->lock, NULL);
    pair(answer, look);
#ifdef FIXED
    free(request);
#endif
    return seen & ~1;
}
