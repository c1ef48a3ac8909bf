#pragma once

#include <string>
#include <vector>

#include "plugins/observability/memory/frame_writer.hpp"

namespace titan::observability {

/// The calling thread's stack of return addresses from the allocation on, innermost first.
std::vector<void*> unwind_here();

/// Names functions of C++, with file and line where the library has them. Slow.
std::vector<StackFrame> symbolize(const std::vector<void*>& addresses);

/// The innermost operator of libtorch on the calling thread's stack, "aten::mm"; empty: none. For a thread that nobody
/// watches.
std::string operator_on_stack();
/// The innermost autograd node whose backward runs there, "MmBackward0"; empty: none.
std::string node_on_stack();

}  // namespace titan::observability
