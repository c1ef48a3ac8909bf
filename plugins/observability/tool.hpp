#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "titan/abi/guard.h"
#include "titan/abi/observer.h"
#include "titan/sdk/describe.hpp"
#include "titan/sdk/guard.hpp"
#include "titan/sdk/host.hpp"

namespace titan::observability {

/// What a guard thinks of a step; see TITAN_DECISION_*.
struct Judgement {
  std::int32_t decision = TITAN_DECISION_CONTINUE;
  std::int32_t code = 0;  // of a stop
  std::string text;
};

/// One tool of the plugin: a part of an observer, of a guard, or of both. It exists only in runs that switch it on. The
/// callbacks are those of titan.observer/1 and titan.guard/1, under their rules; a tool is asked for those alone whose
/// bits it names.
class Tool {
 public:
  Tool() = default;
  virtual ~Tool() = default;
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  /// TITAN_EVENT_* bits.
  virtual std::uint32_t events() const { return 0; }
  /// TITAN_DUTY_* bits.
  virtual std::uint32_t duties() const { return 0; }

  virtual void run_begin(const titan_run_event& /*event*/) {}
  virtual void step_end(const titan_step_event& /*event*/) {}
  virtual void validation(const titan_validation_event& /*event*/) {}
  virtual void run_end(const titan_run_end_event& /*event*/) {}
  virtual void collective(const titan_collective_event& /*event*/) {}
  virtual void span(const titan_span_event& /*event*/) {}
  /// On any thread.
  virtual void dump(const titan_dump_event& /*event*/) {}

  virtual void attach(const sdk::GuardHandles& /*handles*/) {}
  virtual void step_begin(std::int64_t /*step*/) {}
  virtual void around(const titan_pass& /*pass*/) {}
  virtual Judgement judge(const titan_outcome& /*outcome*/) { return {}; }
  /// The plugin's judgement of a step is to leave its update out; why, where this rank knows.
  virtual void left_out(std::int64_t /*step*/, std::string_view /*why*/) {}
  virtual void breakpoint(std::string_view /*label*/, const titan_string* /*names*/, const titan_tensor* /*tensors*/,
                          std::uint32_t /*num_tensors*/) {}
};

using ToolPointer = std::unique_ptr<Tool>;

/// A tool as the plugin's table lists it.
struct ToolEntry {
  /// Declares its options.
  void (*describe)(sdk::Describe& declare);
  /// Makes it, or null where the run's options do not switch it on. ConfigError for values that do not fit together.
  ToolPointer (*make)(sdk::Host host);
};

}  // namespace titan::observability
