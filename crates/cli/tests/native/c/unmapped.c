/* Memory is unmapped: while another thread still uses it, when nobody does any more, or at one of two addresses that it has. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *common, *other;

static void *looks(void *unused) {
    pthread_mutex_lock(&lock);
    char *mine = common;
    pthread_mutex_unlock(&lock);
    if (mine) assert(mine[5000] == 1);
    return unused;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    int shared = !strcmp(how, "elsewhere");
    pthread_t thread;
    if (shared) {
        int file = memfd_create("both", 0);
        char zeros[SIZE] = {0};
        if (pwrite(file, zeros, SIZE, 0) != SIZE) return 2;
        common = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    } else {
        other = common = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    common[5000] = 1;
    pthread_create(&thread, NULL, looks, NULL);
    pthread_mutex_lock(&lock);
    if (!strcmp(how, "early")) common = NULL;
    pthread_mutex_unlock(&lock);
    if (!strcmp(how, "joined")) pthread_join(thread, NULL);
    munmap(other, SIZE);
    if (strcmp(how, "joined")) pthread_join(thread, NULL);
}
