// The destructor of a thread_local runs when its thread ends, and adds what was counted to a total.
#include <mutex>
#include <thread>

[[maybe_unused]] static std::mutex lock;
static int total;

struct Counted {
    int calls = 0;
    ~Counted() {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock);
#endif
        total += calls; // !race
    }
};

static thread_local Counted counted;

int main() {
    auto work = [] { counted.calls += 2; };
    std::thread a(work), b(work);
    a.join();
    b.join();
    return total < 2;
}
