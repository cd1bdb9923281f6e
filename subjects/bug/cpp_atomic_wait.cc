// atomic::wait needs somebody to notify: a store alone wakes nobody. Before it sleeps, libstdc++ looks at the value some
// sixteen times; while Raddle holds such a loop back until the value changes, it never sleeps. So this needs --spin off.
#include <atomic>
#include <mutex>
#include <thread>

static std::atomic<int> state;
static std::mutex lock;
static int prepared;

int main() {
    std::thread waiter([] {
        state.wait(0); // !deadlock
    });
    for (int i = 0; i < 40; i++) {
        std::lock_guard<std::mutex> guard(lock);
        prepared++;
    }
    state.store(1);
#ifdef FIXED
    state.notify_one();
#endif
    waiter.join(); // !deadlock
    return state - 1;
}
