// One shared_ptr that two threads use: its count is atomic, the pointer itself is not.
#include <memory>
#include <thread>

static std::shared_ptr<int> current;

static int read() {
#ifdef FIXED
    std::shared_ptr<int> mine = std::atomic_load(&current);
#else
    std::shared_ptr<int> mine = current; // !race !memory !crash
#endif
    return *mine; // !memory !race !crash
} // !memory !race !crash

static void replace() {
#ifdef FIXED
    std::atomic_store(&current, std::make_shared<int>(2));
#else
    current = std::make_shared<int>(2); // !race !memory !crash
#endif
}

int main() {
    current = std::make_shared<int>(1); // !memory
    int seen = 0;
    std::thread reader([&] { seen = read(); });
    std::thread writer(replace);
    reader.join();
    writer.join();
    return seen < 1 || seen > 2; // !exit
}
