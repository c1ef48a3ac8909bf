#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace titan::comm {

/// Where a call is checked: its group, for the messages.
struct CallPlace {
  const std::string& group;
  std::int64_t size;
  std::int64_t rank;
};

// Each throws PluginError, naming operation and group, when the tensors do not fit the operation.
void check_defined(const CallPlace& place, const char* op, const at::Tensor& tensor);
void check_in_place(const CallPlace& place, const char* op, const at::Tensor& tensor);
/// `large` has `place.size` times the rows of `small`, and both have the same dtype.
void check_parts(const CallPlace& place, const char* op, const at::Tensor& large, const at::Tensor& small);
void check_rows(const CallPlace& place, const char* op, const at::Tensor& tensor,
                const std::vector<std::int64_t>& rows);
void check_exchange(const CallPlace& place, const at::Tensor& out, const at::Tensor& in);
/// A position of the group; `other` asks for another one than the caller's.
void check_position(const CallPlace& place, const char* op, std::int64_t position, bool other);
/// Gives the dim from the front; negative ones count from the back.
std::int64_t checked_dim(const CallPlace& place, const char* op, const at::Tensor& tensor, std::int64_t dim);

/// The dim can be cut into a part for each rank.
void check_divisible(const CallPlace& place, const char* op, const at::Tensor& tensor, std::int64_t dim);

}  // namespace titan::comm
