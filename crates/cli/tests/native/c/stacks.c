// Threads with stacks of several sizes, more of them than are mapped beforehand. Each fills much of its own, and nobody
// else may write there. What is printed in the end is where they were.
#define _GNU_SOURCE
#include <alloca.h>
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 24
#define ROUNDS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static void *places[ROUNDS][THREADS][2];
static int round_number;
// A value of its own and zeros behind it.
static int counted = 7;
static int done[THREADS];

static size_t size_of(long number) {
    switch (number % 4) {
    case 1:
        return 64 << 10;
    case 2:
        return 3 << 20;
    case 3:
        return number == 3 ? 20 << 20 : 0;
    default:
        return 0;
    }
}

// Every page of a stack that is larger than most.
static void fill(void) {
    const size_t size = 18 << 20;
    volatile char *all_of_it = alloca(size);
    for (size_t at = 0; at < size; at += 4096) all_of_it[at] = 1;
}

static void *work(void *argument) {
    long number = (long)argument;
    if (number == 3) fill();
    char room[32 << 10];
    memset(room, (int)number, sizeof room);
    places[round_number][number][0] = room;
    places[round_number][number][1] = (void *)pthread_self();
    pthread_mutex_lock(&lock);
    counted++;
    done[number]++;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&all);
    for (size_t at = 0; at < sizeof room; at++) assert(room[at] == (char)number);
    return argument;
}

int main(void) {
    pthread_barrier_init(&all, NULL, THREADS);
    for (round_number = 0; round_number < ROUNDS; round_number++) {
        pthread_t threads[THREADS];
        for (long number = 0; number < THREADS; number++) {
            pthread_attr_t attributes;
            pthread_attr_init(&attributes);
            if (size_of(number)) pthread_attr_setstacksize(&attributes, size_of(number));
            assert(!pthread_create(&threads[number], &attributes, work, (void *)number));
        }
        for (long number = 0; number < THREADS; number++) {
            void *result;
            assert(!pthread_join(threads[number], &result) && result == (void *)number);
            // Who was joined is nobody any more, though its stack is there until another thread is made.
            assert(pthread_tryjoin_np(threads[number], &result) == ESRCH);
        }
    }
    assert(counted == 7 + ROUNDS * THREADS);
    for (int number = 0; number < THREADS; number++) {
        assert(done[number] == ROUNDS);
        for (int round = 0; round < ROUNDS; round++) printf("%p %p\n", places[round][number][0], places[round][number][1]);
    }
    return 0;
}
