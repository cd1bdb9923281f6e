// A static of a function is made once, whoever comes first; what is done to it afterwards is everybody's own care.
#include <mutex>
#include <thread>

struct Counter {
    int calls;
    Counter() : calls(0) {}
    int next() {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock);
#endif
        return ++calls; // !race
    }
    std::mutex lock;
};

static int use() {
    static Counter counter;
    return counter.next();
}

int main() {
    std::thread a(use), b(use);
    a.join();
    b.join();
    return use() < 1;
}
