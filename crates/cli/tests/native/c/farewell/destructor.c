/* What is wrong shows in a function that the linker has listed for the end. */
#include "race.h"

__attribute__((destructor)) static void end(void) { judge(); }

int main(void) {
    race();
    return 0;
}
