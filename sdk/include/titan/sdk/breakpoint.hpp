#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "titan/abi/control.h"
#include "titan/sdk/host.hpp"
#include "titan/sdk/tensor.hpp"

namespace titan::sdk {

/// A tensor that may be looked at under a name. Borrowed.
struct NamedTensor {
  NamedTensor(std::string_view name_, const Tensor& tensor) : name(name_), handle(tensor.handle()) {}
  /// In torch tier: {"x", titan::handle::lend(x)}.
  NamedTensor(std::string_view name_, titan_tensor handle_) : name(name_), handle(handle_) {}

  std::string_view name;
  titan_tensor handle;
};

/// Breaks into the run where it is called, if this is that rank: a prompt on its terminal, while all other ranks wait.
/// Call on the rank's training thread, in any callback. `label` says where in words; the tensors may be looked at by
/// their names. Where nobody can answer, one warning says so and the run goes on. Throws when somebody quits: let it
/// pass.
inline void breakpoint(const Host& host, std::uint32_t rank, std::string_view label,
                       std::initializer_list<NamedTensor> tensors = {}) {
  const auto* control = host.rank() == rank ? host.find<titan_control_v1>(TITAN_CONTROL_V1) : nullptr;
  if (control == nullptr || !TITAN_HAS(control, breakpoint)) return;
  std::vector<titan_string> names;
  std::vector<titan_tensor> handles;
  for (const NamedTensor& tensor : tensors) {
    names.push_back(borrow(tensor.name));
    handles.push_back(tensor.handle);
  }
  host.check(control->breakpoint(rank, borrow(label), names.data(), handles.data(),
                                 static_cast<std::uint32_t>(handles.size())));
}

}  // namespace titan::sdk
