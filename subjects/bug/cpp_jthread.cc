// A jthread joins when it goes out of scope: reading its result before that is too early.
#include <stop_token>
#include <thread>

static int result;

int main() {
    int seen = 0;
    {
        std::jthread worker([](std::stop_token stop) {
            if (!stop.stop_requested())
                result = 1; // !race
        });
#ifndef FIXED
        seen = result; // !race
#endif
    }
#ifdef FIXED
    seen = result;
#endif
    return seen & ~1;
}
