// An exception is carried from one thread to another through a variable that nothing protects.
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

[[maybe_unused]] static std::mutex lock;
static std::exception_ptr failure;
static bool failed;

static void work() {
    try {
        throw std::runtime_error("no more");
    } catch (...) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock);
#endif
        failure = std::current_exception();
        failed = true; // !race
    }
}

static bool look() {
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    return failed; // !race
}

int main() {
    std::thread worker(work);
    bool early = look();
    worker.join();
    (void)early;
    try {
        std::rethrow_exception(failure);
    } catch (const std::runtime_error &error) {
        return std::string(error.what()) != "no more";
    }
}
