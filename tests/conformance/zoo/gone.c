int zoo_gone(void);
int zoo_gone(void) { return 0; }
