#pragma once

#include <string>

#include "core/base/abi_error.hpp"

namespace titan::testing {

/// Takes an error and gives its text; an empty text for NULL.
inline std::string error_text(titan_error* error) {
  if (error == nullptr) return {};
  std::string text = error->text;
  delete_abi_error(error);
  return text;
}

}  // namespace titan::testing
