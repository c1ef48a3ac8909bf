#pragma once

#include <string_view>
#include <vector>

#include "titan/abi/tree.h"

namespace titan::testing {

/// A declaration of a parameter that starts at `value`. Borrows both arguments.
inline titan_parameter declare(std::string_view name, const std::vector<std::int64_t>& shape, double value = 0) {
  titan_parameter made{};
  made.struct_size = sizeof made;
  made.num_dims = static_cast<std::uint32_t>(shape.size());
  made.name = {name.data(), name.size()};
  made.shape = shape.data();
  made.init = TITAN_INIT_CONSTANT;
  made.value = value;
  return made;
}

}  // namespace titan::testing
