#include "core/config/engine.hpp"

/// An engine of another build than any program.
extern "C" __attribute__((visibility("default"))) const titan::Engine* titan_engine_query_v1() {
  static const titan::Engine engine = [] {
    titan::Engine other{};
    other.struct_size = sizeof other;
    other.build_id = "another build";
    return other;
  }();
  return &engine;
}
