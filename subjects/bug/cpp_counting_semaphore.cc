// A semaphore that lets two in, around a total that bears only one.
#include <semaphore>
#include <thread>

#ifdef FIXED
enum { PLACES = 1 };
#else
enum { PLACES = 2 };
#endif

static std::counting_semaphore<4> places(PLACES);
static int total;

static void add() {
    places.acquire();
    total++; // !race
    places.release();
}

int main() {
    std::thread a(add), b(add);
    a.join();
    b.join();
    return total < 1;
}
