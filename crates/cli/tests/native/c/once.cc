/* What is to be done once throws the first time: the next one does it, whoever that is. */
#include <pthread.h>
#include <cassert>
#include <mutex>

static std::once_flag once;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tries, done;

static void *work(void *unused) {
    try {
        std::call_once(once, [] {
            pthread_mutex_lock(&lock);
            int number = tries++;
            pthread_mutex_unlock(&lock);
            if (number == 0) throw number;
            done++;
        });
    } catch (int) {
    }
    return unused;
}

int main() {
    pthread_t threads[2];
    for (auto &thread : threads) pthread_create(&thread, nullptr, work, nullptr);
    for (auto &thread : threads) pthread_join(thread, nullptr);
    assert(tries == 2 && done == 1);
}
