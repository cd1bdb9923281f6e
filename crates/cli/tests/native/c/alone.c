/* One thread only: there is nothing to control. */
int main(void) { return 0; }
