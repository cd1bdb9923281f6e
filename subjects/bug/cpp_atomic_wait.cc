// atomic::wait needs somebody to notify: a store alone wakes nobody.
#include <atomic>
#include <thread>

static std::atomic<int> state;

int main() {
    std::thread waiter([] {
        state.wait(0); // !deadlock
    });
    state.store(1);
#ifdef FIXED
    state.notify_one();
#endif
    waiter.join(); // !deadlock
    return state - 1;
}
