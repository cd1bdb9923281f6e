/* Functions of a header of the system that the compiler has put into those of the program: they are told where these stand. */
#include <pthread.h>
#include <atomic>
#include <cassert>

static std::atomic<int> sum;
static int last;

static inline __attribute__((always_inline)) void add() {
    int old = sum.load();
    last = old;
    sum.store(old + 1);
}

static void *work(void *unused) {
    add();
    return unused;
}

int main() {
    pthread_t threads[2];
    for (auto &thread : threads) pthread_create(&thread, nullptr, work, nullptr);
    for (auto &thread : threads) pthread_join(thread, nullptr);
    assert(sum.load() == 2);
}
