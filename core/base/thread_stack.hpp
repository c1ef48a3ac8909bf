#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/function_name.hpp"

namespace titan {

/// Lets stack_of() look at threads of this process: takes SIGURG, which does nothing to a program by default. Any
/// number of times.
void enable_thread_stacks();

/// [any thread] Names the functions that a thread of this process is in, innermost first. Empty when the thread does
/// not say so within the limit, or enable_thread_stacks() was not called. The thread is interrupted for a moment.
std::vector<FunctionName> stack_of(pid_t thread, std::chrono::milliseconds limit);

/// The innermost function, and up to `count` of those around it that belong to neither libtorch nor the system:
/// "clock_nanosleep < titan::data::Loader::next < titan::train::Trainer::fetch". Code that no library has is called
/// generated code.
std::string stack_text(const std::vector<FunctionName>& functions, std::size_t count);

}  // namespace titan
