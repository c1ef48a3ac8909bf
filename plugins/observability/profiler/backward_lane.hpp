#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugins/observability/operators/operator_watch.hpp"
#include "plugins/observability/profiler/module_scopes.hpp"
#include "plugins/observability/profiler/timeline.hpp"

namespace titan::observability {

/// Finds out which module's backward runs while it lives, and adds it to a lane of the timeline: the autograd graph's
/// nodes belong to the modules whose forward made them. Made and destroyed on the training thread.
class BackwardLane {
 public:
  BackwardLane(const ModuleScopes& modules, Timeline& timeline);
  ~BackwardLane();
  BackwardLane(const BackwardLane&) = delete;
  BackwardLane& operator=(const BackwardLane&) = delete;

  /// Ends the spans that are open; `args` is the JSON object of the spans to come.
  void close(std::string args);

 private:
  struct Callback;
  struct Open {
    titan_module module;
    double begin;
  };
  void enter(titan_module module);
  void close_beyond(std::size_t depth, double now);

  const ModuleScopes& modules_;
  Timeline& timeline_;
  OperatorWatch watch_;
  std::uint64_t callback_;
  titan_module current_ = TITAN_MODULE_ROOT;
  std::vector<Open> open_;
  std::string args_ = "{}";
};

}  // namespace titan::observability
