/* A race inside of a function that stands in a header of the system: it is told where the program has called it. */
#include <pthread.h>
#include <utility>

static std::pair<int, int> common;

static void *work(void *unused) {
    common = std::make_pair(1, 2);
    return unused;
}

int main() {
    pthread_t threads[2];
    for (auto &thread : threads) pthread_create(&thread, nullptr, work, nullptr);
    for (auto &thread : threads) pthread_join(thread, nullptr);
}
