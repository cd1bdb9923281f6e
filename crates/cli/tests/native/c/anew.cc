// Locks of several kinds follow each other in the same memory. Their constructors do nothing but write, and nobody says when one ends.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <thread>

template <class Lock, class Use> static void make(char *room, Use use) {
    Lock *lock = new (room) Lock;
    use(*lock);
    lock->~Lock();
}

static void all() {
    alignas(16) char room[128];
    int done = 0;
    for (int again = 0; again < 2; again++) {
        make<std::mutex>(room, [](auto &lock) { lock.lock(), lock.unlock(); });
        make<std::recursive_mutex>(room, [](auto &lock) {
            lock.lock(), lock.lock();
            lock.unlock(), lock.unlock();
        });
        make<std::mutex>(room, [](auto &lock) {
            lock.lock();
            assert(!lock.try_lock());
            lock.unlock();
        });
        make<std::shared_mutex>(room, [](auto &lock) { lock.lock_shared(), lock.unlock_shared(); });
        make<std::condition_variable>(room, [](auto &condition) { condition.notify_one(); });
        make<std::once_flag>(room, [&](auto &once) { std::call_once(once, [&] { done++; }); });
        make<std::once_flag>(room, [&](auto &once) { std::call_once(once, [&] { done++; }); });
    }
    assert(done == 4);
}

int main() {
    std::thread other(all);
    all();
    other.join();
}
