// Initialization by call_once; the other way in looks at the pointer without it.
#include <mutex>
#include <thread>

static std::once_flag once;
static int table[2], *ready;

static void initialize() {
    table[0] = 1; // !race
    ready = table; // !race
}

static int use() {
    std::call_once(once, initialize);
    return ready[0];
}

static int peek() {
#ifdef FIXED
    std::call_once(once, initialize);
#endif
    return ready ? ready[0] : 1; // !race
}

int main() {
    int a = 0, b = 0;
    std::thread one([&] { a = use(); });
    std::thread two([&] { b = peek(); });
    one.join();
    two.join();
    return a + b != 2;
}
