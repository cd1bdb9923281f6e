/* A runtime whose hooks only return: what remains is the cost of calling them. */
#include <string.h>

int raddle_runtime_version = 1;

#define HOOK(name) void __tsan_##name(void *address) { (void)address; }
#define SIZES(what) HOOK(what##1) HOOK(what##2) HOOK(what##4) HOOK(what##8) HOOK(what##16)
SIZES(read) SIZES(write) SIZES(unaligned_read) SIZES(unaligned_write) SIZES(read_write) SIZES(unaligned_read_write)
HOOK(func_entry)
HOOK(vptr_read)
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
void __tsan_vptr_update(void *a, void *b) { (void)a; (void)b; }
void __tsan_read_range(void *a, long n) { (void)a; (void)n; }
void __tsan_write_range(void *a, long n) { (void)a; (void)n; }
void *__tsan_memcpy(void *to, const void *from, unsigned long n) { return memcpy(to, from, n); }
void *__tsan_memmove(void *to, const void *from, unsigned long n) { return memmove(to, from, n); }
void *__tsan_memset(void *to, int byte, unsigned long n) { return memset(to, byte, n); }

#define ATOMICS(bits, type) \
    type __tsan_atomic##bits##_load(type *a, int order) { (void)order; return __atomic_load_n(a, __ATOMIC_SEQ_CST); } \
    void __tsan_atomic##bits##_store(type *a, type v, int order) { \
        (void)order; \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST); \
    } \
    type __tsan_atomic##bits##_exchange(type *a, type v, int order) { \
        (void)order; \
        return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST); \
    } \
    type __tsan_atomic##bits##_fetch_add(type *a, type v, int order) { \
        (void)order; \
        return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST); \
    }
ATOMICS(8, char)
ATOMICS(16, short)
ATOMICS(32, int)
ATOMICS(64, long)
