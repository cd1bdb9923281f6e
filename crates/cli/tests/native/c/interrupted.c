// Threads that are interrupted in the middle of something: by a fault, or because nothing happens any more. The place
// that a report must name has a comment.
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;
static const char *text;
static unsigned sum;

__attribute__((no_sanitize_thread)) static unsigned loop(unsigned n) {
    unsigned k = 1;
    while (n != 0) { n = n % 2 ? n * 3 + 1 : n / 2; k += n; } // here: loop
    return k;
}

static void wait_in_the_kernel(void) {
    int word = 0;
    long number = SYS_futex;
    register long timeout __asm__("r10") = 0;
    __asm__ volatile("syscall" : "+a"(number) : "D"(&word), "S"(FUTEX_WAIT), "d"(0), "r"(timeout) : "rcx", "r11", "memory"); // here: kernel
}

static void lose_the_stack(void) {
    __asm__ volatile("mov $64, %%rsp\n mov $64, %%rbp\n movl $1, (%%rsp)" ::: "memory"); // here: stack
}

static void *work(void *how) {
    pthread_mutex_lock(&lock);
    if (turns++ == 1) {
        if (!strcmp(how, "loop")) sum = loop(27);
        if (!strcmp(how, "kernel")) wait_in_the_kernel();
        if (!strcmp(how, "library")) sum = strlen(text); // here: library
        if (!strcmp(how, "stack")) lose_the_stack();
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, argv[1]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return argc == 0;
}
