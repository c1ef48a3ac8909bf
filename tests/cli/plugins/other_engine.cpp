#include "core/config/engine.hpp"

/// An engine of another build than any program.
extern "C" __attribute__((visibility("default"))) const titan::Engine* titan_engine_query_v1() {
  static const titan::Engine engine{sizeof(titan::Engine), "another build", nullptr, nullptr, nullptr};
  return &engine;
}
