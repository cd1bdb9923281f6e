/* A structure that lies in memory is handed to a function by value, or is what a function returns, while another thread
 * writes to it. Not every compiler tells of that. */
#include <pthread.h>

struct large { double numbers[3]; int last; };
struct small { long first, last; };

static struct large large_argument, large_result;
static struct small small_argument, small_result;

static int __attribute__((noinline)) take_large(struct large value) { return value.last; }
static long __attribute__((noinline)) take_small(struct small value) { return value.last; }
static struct large __attribute__((noinline)) make_large(void) { struct large value = {{0}, 1}; return value; }
static struct small __attribute__((noinline)) make_small(void) { struct small value = {0, 1}; return value; }

static void *one(void *unused) {
    take_large(large_argument);
    take_small(small_argument);
    large_result = make_large();
    small_result = make_small();
    return unused;
}

static void *other(void *unused) {
    large_argument.last = 2; // large argument
    small_argument.last = 2; // small argument
    large_result.last = 2; // large result
    small_result.last = 2; // small result
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
