#pragma once

#include <string_view>

namespace titan::trace {

// Dumps name calls and types for PyTorch's analyser; here they have the names under which the rest of titan, and
// PyTorch's own messages, speak of them.

/// "_allgather_base" of "_all_gather_base"; other names stay as they are.
std::string_view call_name(std::string_view of_dump);
/// "bfloat16" of "BFloat16"; other names stay as they are.
std::string_view dtype_name(std::string_view of_dump);

}  // namespace titan::trace
