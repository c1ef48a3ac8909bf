/// A library like any other: a plugin's symbol is not in it.
extern "C" __attribute__((visibility("default"))) int no_plugin() { return 1; }
