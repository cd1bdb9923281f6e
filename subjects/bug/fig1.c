/* Sen, "Effective Random Testing of Concurrent Programs" (ASE 2007), figure 1.
 *
 *            | paper              | here
 * threads    | 2                  | 2, and main, which starts and joins them
 * locks      | none               | none; the variables are atomic, so that only the assertion can fail
 * operations | y=1 y=2 y=3 x=4;   | the same
 *            | if (x==4) ERROR    |
 */
#include "pair.h"
#include <assert.h>
#include <stdatomic.h>

#ifdef FIXED
enum { LAST = 3 };
#else
enum { LAST = 4 };
#endif

static atomic_int x, y;

static void *writer(void *unused) {
    y = 1;
    y = 2;
    y = 3;
    x = LAST;
    return unused;
}

static void *reader(void *unused) {
    assert(x != 4); // !assertion
    return unused;
}

int main(void) {
    pair(writer, reader);
    return 0;
}
