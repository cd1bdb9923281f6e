/* Two transfers in opposite directions lock the giver first, then the taker: each can hold what the other needs. */
#include "pair.h"

struct account {
    pthread_mutex_t lock;
    int money;
};
static struct account a = {PTHREAD_MUTEX_INITIALIZER, 10}, b = {PTHREAD_MUTEX_INITIALIZER, 10};

static void transfer(struct account *from, struct account *to) {
    struct account *first = from, *second = to;
#ifdef FIXED
    if (first > second) {
        first = to;
        second = from;
    }
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock); // !deadlock
    from->money--;
    to->money++;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *forth(void *unused) {
    transfer(&a, &b);
    return unused;
}

static void *back(void *unused) {
    transfer(&b, &a);
    return unused;
}

int main(void) {
    pair(forth, back);
    return a.money + b.money != 20;
}
