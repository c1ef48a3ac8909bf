// A shared library that is no plugin.
int plain_library_answer(void);
int plain_library_answer(void) { return 42; }
