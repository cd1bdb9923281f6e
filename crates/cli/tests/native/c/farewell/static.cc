// What is wrong shows when a variable is destroyed.
#include "race.h"

struct Judge {
    ~Judge() { judge(); }
};

static Judge judge_of_all;

int main() { race(); }
