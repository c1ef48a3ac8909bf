#pragma once

#include <cstdint>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"

namespace titan::train {

class Control;

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
  void breakpoint(titan_string label, const titan_string* names, const titan_tensor* tensors,
                  std::uint32_t num_tensors);

 private:
  struct Guard {
    PluginInterface<titan_guard_v1> plugin;
    std::uint32_t duties;
  };
  template <class Callback, class... Arguments>
  void call(std::uint32_t duty, const char* name, Callback titan_guard_v1::*callback, Arguments... arguments) const;

  const titan_host* host_ = nullptr;
  std::vector<Guard> guards_;
};

}  // namespace titan::train
