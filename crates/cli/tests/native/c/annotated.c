// What a program tells ThreadSanitizer, where the compiler does not see what goes on.
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <ucontext.h>

// As in sanitizer/tsan_interface.h, which not everybody has.
void __tsan_acquire(void *);
void __tsan_release(void *);
void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void __tsan_mutex_pre_divert(void *, unsigned);
void __tsan_mutex_post_divert(void *, unsigned);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void *);
void __tsan_switch_to_fiber(void *, unsigned);
enum { READ_LOCK = 1 << 3, TRY_LOCK_FAILED = 1 << 5 };

void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateIgnoreReadsBegin(const char *, int);
void AnnotateIgnoreReadsEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, long, const char *);
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
int ThreadSanitizerQuery(const char *);

#define UNSEEN __attribute__((no_sanitize("thread"), noinline))
#define HERE __FILE__, __LINE__

static const char *how;
static volatile int flag, lock;
static int data, other;

static int is(const char *what) { return !strcmp(how, what); }

UNSEEN static void raise_flag(void) { flag = 1; }
UNSEEN static int raised(void) { return flag; }
UNSEEN static int try_lock(void) { return lock ? 0 : (lock = 1); }
UNSEEN static void open_lock(void) { lock = 0; }

static void *writer(void *unused) {
    if (is("ignored writes")) AnnotateIgnoreWritesBegin(HERE);
    data = 1; // written
    if (is("ignored writes")) AnnotateIgnoreWritesEnd(HERE);
    if (is("told")) __tsan_release((void *)&flag);
    if (is("told as before")) AnnotateHappensBefore(HERE, &flag);
    raise_flag();
    return unused;
}

static void *reader(void *unused) {
    while (!raised()) sched_yield();
    if (is("told")) __tsan_acquire((void *)&flag);
    if (is("told as before")) AnnotateHappensAfter(HERE, &flag);
    if (is("ignored reads")) AnnotateIgnoreReadsBegin(HERE);
    if (data != 1) // read
        return (void *)1;
    if (is("ignored reads")) AnnotateIgnoreReadsEnd(HERE);
    if (is("ignored too late")) AnnotateIgnoreReadsBegin(HERE);
    return unused;
}

// A lock of our own, which nobody sees.
static void take(unsigned flags) {
    if (is("unannotated lock")) {
        while (!try_lock()) sched_yield();
        return;
    }
    if (is("lock as before")) {
        while (!try_lock()) sched_yield();
        AnnotateRWLockAcquired(HERE, &lock, !(flags & READ_LOCK));
        return;
    }
    __tsan_mutex_pre_lock((void *)&lock, flags);
    other++; // its own statistics
    while (!is("readers") && !try_lock()) {
        __tsan_mutex_pre_divert((void *)&lock, 0);
        sched_yield();
        __tsan_mutex_post_divert((void *)&lock, 0);
    }
    __tsan_mutex_post_lock((void *)&lock, is("in vain") ? flags | TRY_LOCK_FAILED : flags, 0);
}

static void give(unsigned flags) {
    int annotated = !is("unannotated lock") && !is("lock as before");
    if (annotated) __tsan_mutex_pre_unlock((void *)&lock, flags);
    if (is("lock as before")) AnnotateRWLockReleased(HERE, &lock, !(flags & READ_LOCK));
    open_lock();
    if (annotated) __tsan_mutex_post_unlock((void *)&lock, flags);
}

static void *locker(void *flags) {
    take((unsigned)(long)flags);
    data++; // locked
    give((unsigned)(long)flags);
    return 0;
}

// One end of an order may come before the other.
static void *teller(void *unused) {
    data = 1; // before
    __tsan_release(&other);
    return unused;
}

static void *hearer(void *unused) {
    __tsan_acquire(&other);
    data = 2; // after
    return unused;
}

// A coroutine that goes on in another thread.
static ucontext_t coroutine, back;
static char stack[1 << 16];
static void *inside;

static void change(ucontext_t *from, ucontext_t *to, void *id) {
    if (is("coroutines")) __tsan_switch_to_fiber(id, 0);
    swapcontext(from, to);
}

static void *home[2];
static int resumer;

static void body(void) {
    data = 1; // begun
    change(&coroutine, &back, home[resumer]);
    data++; // resumed
    change(&coroutine, &back, home[resumer]);
}

static void *resume(void *unused) {
    home[0] = __tsan_get_current_fiber();
    change(&back, &coroutine, inside);
    raise_flag();
    return unused;
}

UNSEEN static void become(int who) { resumer = who; }

static void *resume_later(void *unused) {
    while (!raised()) sched_yield();
    become(1);
    home[1] = __tsan_get_current_fiber();
    change(&back, &coroutine, inside);
    return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *), unsigned flags) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, (void *)(long)flags);
    pthread_create(&threads[1], 0, second, (void *)(long)flags);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "";
    if (!ThreadSanitizerQuery("pure_happens_before")) return 2;
    __tsan_mutex_create((void *)&lock, 0);
    if (is("benign")) AnnotateBenignRaceSized(HERE, &data, sizeof data, "on purpose");
    if (strstr(how, "lock") || is("in vain")) both(locker, locker, 0);
    else if (is("readers")) both(locker, locker, READ_LOCK);
    else if (is("either")) both(teller, hearer, 0);
    else if (strstr(how, "coroutines")) {
        inside = __tsan_create_fiber(0);
        getcontext(&coroutine);
        coroutine.uc_stack.ss_sp = stack;
        coroutine.uc_stack.ss_size = sizeof stack;
        makecontext(&coroutine, body, 0);
        both(resume, resume_later, 0);
        __tsan_destroy_fiber(inside);
    } else both(writer, reader, 0);
    __tsan_mutex_destroy((void *)&lock, 0);
    return 0;
}
