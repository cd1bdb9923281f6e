// A latch that counts one worker too few lets main go on before the other has written.
#include <latch>
#include <thread>

#ifdef FIXED
enum { COUNT = 2 };
#else
enum { COUNT = 1 };
#endif

static int parts[2];

int main() {
    std::latch done(COUNT);
    auto work = [&](int me) {
        parts[me] = me + 1; // !race
#ifdef FIXED
        done.count_down();
#else
        if (me == 0)
            done.count_down();
#endif
    };
    std::thread a(work, 0), b(work, 1);
    done.wait();
    int sum = parts[0] + parts[1]; // !race
    a.join();
    b.join();
    return sum < 1;
}
