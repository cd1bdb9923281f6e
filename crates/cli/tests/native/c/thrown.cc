// A thread throws, and nobody catches it; or it reads what another has given back.
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace bank {
struct Base { virtual ~Base() = default; int number = 7; };
struct Overdrawn : Base, std::runtime_error {
    explicit Overdrawn(const std::string &who) : std::runtime_error("account of " + who) {}
};
} // namespace bank

static std::mutex lock;
static int turns;
static int *shared;

static void work(const std::string &how) {
    std::lock_guard<std::mutex> guard(lock);
    if (++turns < 2) return;
    if (how == "object") throw bank::Overdrawn("Ada");
    if (how == "number") throw 42;
    if (how == "freed") {
        shared = new int(1); // allocated
        delete shared;       // freed
        turns = *shared;     // read
    }
}

int main(int, char **argv) {
    std::thread one(work, argv[1]), two(work, argv[1]);
    one.join();
    two.join();
}
