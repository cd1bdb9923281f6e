// A condition variable over a shared lock, waited for without looking at the condition again.
#include <atomic>
#include <condition_variable>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::condition_variable_any change;
static std::atomic<bool> ready;

int main() {
    std::thread waiter([] {
#ifdef FIXED
        std::shared_lock<std::shared_mutex> guard(lock);
        change.wait(guard, [] { return ready.load(); });
#else
        if (!ready) {
            std::shared_lock<std::shared_mutex> guard(lock);
            change.wait(guard); // !deadlock
        }
#endif
    });
    {
        std::unique_lock<std::shared_mutex> guard(lock);
        ready = true;
    }
    change.notify_all();
    waiter.join(); // !deadlock
    return 0;
}
