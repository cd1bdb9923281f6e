// A string stream that two threads write to; cout, beside it, is safe.
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

[[maybe_unused]] static std::mutex lock;
static std::string text;

static void say(char letter) {
    std::cout << letter;
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    text += letter; // !race !memory !crash
}

int main() {
    std::thread a(say, 'a'), b(say, 'b');
    a.join();
    b.join();
    std::cout << std::endl;
    return text.size() > 2; // !exit
}
