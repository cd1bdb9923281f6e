/* A thread destroys a lock without knowing whether the other still uses it. The argument says what is done with it then. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    pthread_mutex_t lock;
    int value;
};

static struct node *node;
static const char *what;

static void *uses(void *unused) {
    pthread_mutex_lock(&node->lock);
    printf("%d", ++node->value);
    pthread_mutex_unlock(&node->lock);
    return unused;
}

int main(int count, char **arguments) {
    what = count > 1 ? arguments[1] : "";
    node = calloc(1, sizeof *node);
    pthread_mutex_init(&node->lock, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, uses, NULL);
    pthread_mutex_lock(&node->lock);
    printf("%d", ++node->value);
    pthread_mutex_unlock(&node->lock);
    pthread_mutex_destroy(&node->lock);
    if (!strcmp(what, "freed"))
        free(node);
    pthread_join(thread, NULL);
    return 0;
}
