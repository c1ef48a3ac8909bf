#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"

namespace titan::train {

class Control;

/// What is thought of a step, by one guard or by all ranks together.
struct Judgement {
  std::int32_t decision = TITAN_DECISION_CONTINUE;
  std::int32_t code = 0;  // of a stop: TITAN_ERROR_*
  std::string text;
};

/// The guards of a run. An error of one stops the run: it is thrown as the titan::Error of its code, naming plugin and
/// callback; somebody who quits at a prompt is an Interrupted. Used by the training thread.
class Guards {
 public:
  Guards() = default;
  Guards(const titan_host* host, const std::vector<PluginInterface<titan_guard_v1>>& guards);

  /// Whether any has a duty: a TITAN_DUTY_* bit.
  bool have(std::uint32_t duty) const;
  void attach(Control& control, nn::Tree& tree, comm::Communicator& ranks);
  void step_begin(std::int64_t step);
  /// Runs a pass inside of those that stand around passes, the first outermost. Errors of the pass itself come through.
  void around(const titan_pass& pass);
  /// The gravest judgement of this rank's guards; texts of those who made it are joined.
  Judgement judge(const titan_outcome& outcome);
  void breakpoint(titan_string label, const titan_string* names, const titan_tensor* tensors,
                  std::uint32_t num_tensors);

 private:
  struct Guard {
    PluginInterface<titan_guard_v1> plugin;
    std::uint32_t duties;
  };
  /// The host's pass, and what its last run gave.
  struct Outermost {
    const titan_pass& pass;
    double loss_sum = 0;
  };
  struct Nested;
  /// Runs the pass inside of the guards from `index` on.
  titan_error* run_inside(std::size_t index, Outermost& outermost) const;
  template <class Callback, class... Arguments>
  void call(std::uint32_t duty, const char* name, Callback titan_guard_v1::*callback, Arguments... arguments) const;

  const titan_host* host_ = nullptr;
  std::vector<Guard> guards_;
};

}  // namespace titan::train
