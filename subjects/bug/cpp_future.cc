// The result of a future is safe; what its task leaves beside it is safe only after get().
#include <future>

static int side;

static int compute() {
    side = 1; // !race
    return 41;
}

int main() {
    std::future<int> result = std::async(std::launch::async, compute);
#ifdef FIXED
    int value = result.get();
    value += side;
#else
    int value = side; // !race
    value += result.get();
#endif
    return value < 41;
}
