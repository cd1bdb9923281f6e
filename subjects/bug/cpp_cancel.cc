// A thread that is cancelled is unwound: destructors run. What has none is left as it is, a lock too.
#include <pthread.h>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <semaphore.h>

static sem_t none;
static std::mutex mutex;
static std::atomic<int> destroyed;

struct Resource {
    ~Resource() { destroyed++; }
};

static void *work(void *unused) {
    Resource resource;
    try {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex);
        sem_wait(&none);
#else
        mutex.lock();
        sem_wait(&none);
        mutex.unlock();
#endif
    } catch (...) {
        destroyed++;
        throw;
    }
    return unused;
}

int main() {
    pthread_t worker;
    sem_init(&none, 0, 0);
    pthread_create(&worker, nullptr, work, nullptr);
    pthread_cancel(worker);
    pthread_join(worker, nullptr);
    if (destroyed != 0 && destroyed != 2)
        std::abort();
    mutex.lock(); // !deadlock
    mutex.unlock();
    return 0;
}
