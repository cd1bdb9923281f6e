// Functions with as many arguments as they are given: all of them arrive, in registers and on the stack.
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int relayed(char *buffer, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsnprintf(buffer, size, format, list);
    va_end(list);
    return length;
}

static void *print(void *argument) {
    char text[200], cut[8];
    int length = snprintf(text, sizeof text, "%d %d %d %d %d %d %d %d|%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f|%s %c %Lf",
                          1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, "end", 'x', 0.25L);
    assert(!strcmp(text, "1 2 3 4 5 6 7 8|1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 10.5|end x 0.250000"));
    assert(length == (int)strlen(text));
    assert(sprintf(text, "%s %ld %.2f", "a", -7L, 0.125) == 9 && !strcmp(text, "a -7 0.12"));
    assert(snprintf(cut, sizeof cut, "%s-%d", "0123456789", 5) == 12 && !strcmp(cut, "0123456"));
    assert(snprintf(0, 0, "%d", 12345) == 5);
    assert(relayed(text, sizeof text, "%d %s %.1f", 4, "four", 4.0) == 10 && !strcmp(text, "4 four 4.0"));
    // What is not there is not touched.
    char exact[4];
    char *heap = malloc(4);
    assert(sprintf(exact, "%d", 123) == 3 && sprintf(heap, "%s", "abc") == 3);
    free(heap);
    assert(strchr(text, 'f') == text + 2 && !strchr(text, 'z') && strrchr(text, '4') == text + 7);
    assert(strstr(text, "four") == text + 2 && !strstr(text, "five") && memchr(text, 'r', 10) == text + 5);
    assert(strspn("aab", "a") == 2 && strcspn("aab", "b") == 2 && !strpbrk("aab", "c") && strnlen("abc", 2) == 2);
    assert(!strcasecmp("aB", "Ab") && !strcmp(strncat(strcpy(text, "ab"), "cdef", 2), "abcd"));
    printf("%d %s %.1f\n", 1, "one", 1.0);
    fprintf(stderr, "%d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6);
    return argument;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    int numbers[] = {3, 1, 2};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, print, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    qsort(numbers, 3, sizeof *numbers, by_value);
    assert(numbers[0] == 1 && numbers[2] == 3);
    return 0;
}
