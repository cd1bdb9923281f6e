// An exception that leaves a thread ends the program; whether it is thrown depends on who was first.
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int tickets = 1;

static void buy() {
    std::lock_guard<std::mutex> guard(lock);
#ifdef FIXED
    if (tickets == 0)
        return;
#else
    if (tickets == 0)
        throw std::runtime_error("sold out"); // !exception
#endif
    tickets--;
}

static void give_back() {
    std::lock_guard<std::mutex> guard(lock);
    tickets++;
}

int main() {
    std::thread a(buy), b(give_back), c(buy);
    a.join();
    b.join();
    c.join();
    return tickets < 0;
}
