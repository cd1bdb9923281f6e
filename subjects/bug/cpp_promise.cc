// Two threads promise each other something, and each waits for the other's first.
#include <future>
#include <thread>

int main() {
    std::promise<int> a, b;
    std::future<int> from_a = a.get_future(), from_b = b.get_future();
    std::thread one([&] {
#ifdef FIXED
        a.set_value(1);
        from_b.wait();
#else
        from_b.wait(); // !deadlock
        a.set_value(1);
#endif
    });
    std::thread two([&] {
        from_a.wait(); // !deadlock
        b.set_value(2);
    });
    one.join(); // !deadlock
    two.join(); // !deadlock
    return 0;
}
