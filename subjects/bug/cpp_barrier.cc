// A barrier for three, to which only two come.
#include <barrier>
#include <thread>

#ifdef FIXED
enum { PARTIES = 2 };
#else
enum { PARTIES = 3 };
#endif

int main() {
    std::barrier<> phase(PARTIES);
    int left = 0, right = 0, seen = 0;
    std::thread a([&] {
        left = 1;
        phase.arrive_and_wait(); // !deadlock
        seen = right;
    });
    std::thread b([&] {
        right = 1;
        phase.arrive_and_wait(); // !deadlock
    });
    a.join(); // !deadlock
    b.join(); // !deadlock
    return left - seen;
}
