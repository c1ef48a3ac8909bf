#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "core/comm/records.hpp"

namespace titan::comm {

/// Global ranks as a text, runs of them joined: "0-3, 7".
std::string rank_list(const std::vector<std::int64_t>& ranks);

/// "rank 2" or "ranks 0-3, 7".
std::string named_ranks(const std::vector<std::int64_t>& ranks);

/// Seconds with one decimal: "5.0 s".
std::string seconds_text(std::int64_t nanoseconds);

/// Which call a record is of: "all_reduce, sequence 17, group fsdp (ranks 0-3), module layers.3".
std::string describe(const WorkRecord& record);

/// What must be equal over the ranks of a collective, as far as its record tells: "all_reduce of float32 [4]".
std::string signature(const WorkRecord& record);

/// What a rank hands over: "float32 [4, 2]"; empty for an undefined tensor.
std::string describe(const at::Tensor& tensor);

/// What an exception says, the one being handled by default; libtorch's without their backtrace.
std::string error_text(const std::exception_ptr& error = std::current_exception());

/// Whether an exception, the one being handled by default, says that this process has no memory left.
bool is_out_of_memory(const std::exception_ptr& error = std::current_exception());

}  // namespace titan::comm
