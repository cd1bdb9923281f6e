// Memory that lies at two addresses is one: what is done through either meets what is done through the other.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define SIZE 8192

typedef struct {
    int value;
    _Atomic int flag;
    pthread_mutex_t lock;
    pthread_mutex_t other;
} Shared;

static Shared *one, *two;

static int memory_file(void) {
    int fd = memfd_create("shared", 0);
    if (fd < 0 || ftruncate(fd, SIZE) != 0) abort();
    return fd;
}

static Shared *map(int fd, int flags) {
    void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (at == MAP_FAILED) abort();
    return at;
}

static void make(const char *how) {
    if (strcmp(how, "file") == 0) {
        int fd = memory_file();
        one = map(fd, MAP_SHARED);
        two = map(fd, MAP_SHARED);
    } else if (strcmp(how, "remapped") == 0) {
        one = map(-1, MAP_SHARED | MAP_ANONYMOUS);
        two = mremap(one, 0, SIZE, MREMAP_MAYMOVE);
        if (two == MAP_FAILED) abort();
    } else if (strcmp(how, "segment") == 0) {
        int id = shmget(IPC_PRIVATE, SIZE, 0600);
        one = shmat(id, NULL, 0);
        two = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
        if (one == (void *)-1 || two == (void *)-1) abort();
    } else if (strcmp(how, "once") == 0) {
        one = two = map(memory_file(), MAP_SHARED);
    } else if (strcmp(how, "privately") == 0) {
        one = two = map(memory_file(), MAP_PRIVATE);
    } else if (strcmp(how, "mixed") == 0) {
        int fd = memory_file();
        one = map(fd, MAP_SHARED);
        two = map(fd, MAP_PRIVATE);
    }
    pthread_mutex_init(&one->lock, NULL);
    pthread_mutex_init(&one->other, NULL);
}

// Who comes first is seen in what the other reads.
static void *plain(void *unused) {
    (void)unused;
    two->value = 1;
    return NULL;
}

static void *atomics(void *unused) {
    (void)unused;
    atomic_store(&two->flag, 1);
    return NULL;
}

static void *locked(void *unused) {
    (void)unused;
    pthread_mutex_lock(&two->lock);
    two->value++;
    pthread_mutex_unlock(&two->lock);
    return NULL;
}

static void *crossed(void *unused) {
    (void)unused;
    pthread_mutex_lock(&two->other);
    pthread_mutex_lock(&two->lock);
    pthread_mutex_unlock(&two->lock);
    pthread_mutex_unlock(&two->other);
    return NULL;
}

// Each thread gets memory of its own, mostly at the address where the other's was.
static void *own(void *unused) {
    (void)unused;
    int *mine = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *mine = 1;
    munmap(mine, SIZE);
    return NULL;
}

static void *writes(void *file) {
    int one = 1;
    if (pwrite(*(int *)file, &one, sizeof one, 0) != sizeof one) abort();
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    pthread_t thread;
    const char *what = argv[2];
    int result = 0;
    if (strcmp(what, "own") == 0) {
        pthread_t another;
        pthread_create(&thread, NULL, own, NULL);
        pthread_create(&another, NULL, own, NULL);
        pthread_join(thread, NULL);
        pthread_join(another, NULL);
        return 0;
    }
    if (strcmp(what, "written") == 0) {
        int file = memory_file();
        one = map(file, MAP_SHARED);
        pthread_create(&thread, NULL, writes, &file);
        result = *(volatile int *)&one->value;
        pthread_join(thread, NULL);
        return result;
    }
    make(argv[1]);
    if (strcmp(what, "plain") == 0) {
        pthread_create(&thread, NULL, plain, NULL);
        result = one->value;
    } else if (strcmp(what, "atomics") == 0) {
        pthread_create(&thread, NULL, atomics, NULL);
        result = atomic_load(&one->flag);
    } else if (strcmp(what, "locked") == 0) {
        pthread_create(&thread, NULL, locked, NULL);
        pthread_mutex_lock(&one->lock);
        result = one->value;
        pthread_mutex_unlock(&one->lock);
    } else {
        pthread_create(&thread, NULL, crossed, NULL);
        pthread_mutex_lock(&one->lock);
        pthread_mutex_lock(&one->other);
        pthread_mutex_unlock(&one->other);
        pthread_mutex_unlock(&one->lock);
    }
    pthread_join(thread, NULL);
    munmap(one, SIZE);
    return result;
}
