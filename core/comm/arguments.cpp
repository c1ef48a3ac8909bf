#include "core/comm/arguments.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
namespace {

template <class... Parts>
[[noreturn]] void refuse(const CallPlace& place, const char* op, const Parts&... parts) {
  throw PluginError("[comm] ", op, " of group ", place.group, ": ", parts...);
}

/// Sizes behind dim 0.
at::IntArrayRef row_shape(const at::Tensor& tensor) { return tensor.sizes().slice(1); }

void check_same_rows(const CallPlace& place, const char* op, const at::Tensor& a, const at::Tensor& b) {
  check_in_place(place, op, a);
  check_in_place(place, op, b);
  if (a.dim() < 1 || b.dim() < 1 || row_shape(a) != row_shape(b) || a.scalar_type() != b.scalar_type()) {
    refuse(place, op, "the tensors must agree in dtype and in all dims but the first: ", describe(a), " and ",
           describe(b));
  }
}

}  // namespace

void check_defined(const CallPlace& place, const char* op, const at::Tensor& tensor) {
  if (!tensor.defined()) refuse(place, op, "a tensor is undefined");
}

void check_in_place(const CallPlace& place, const char* op, const at::Tensor& tensor) {
  check_defined(place, op, tensor);
  if (!tensor.is_contiguous()) refuse(place, op, "a tensor is not contiguous: ", describe(tensor));
}

void check_parts(const CallPlace& place, const char* op, const at::Tensor& large, const at::Tensor& small) {
  check_same_rows(place, op, large, small);
  if (large.size(0) != place.size * small.size(0)) {
    refuse(place, op, "one tensor must have a part for each of the ", place.size, " ranks: ", describe(large), " and ",
           describe(small));
  }
}

void check_rows(const CallPlace& place, const char* op, const at::Tensor& tensor,
                const std::vector<std::int64_t>& rows) {
  check_in_place(place, op, tensor);
  const bool negative = std::any_of(rows.begin(), rows.end(), [](std::int64_t count) { return count < 0; });
  if (static_cast<std::int64_t>(rows.size()) != place.size || negative || tensor.dim() < 1 ||
      std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) != tensor.size(0)) {
    std::vector<std::string> counts;
    for (const std::int64_t count : rows) counts.push_back(concat(count));
    refuse(place, op, "rows must be given for each of the ", place.size, " ranks and add up to the tensor's: [",
           join(counts, ", "), "] of ", describe(tensor));
  }
}

void check_exchange(const CallPlace& place, const at::Tensor& out, const at::Tensor& in) {
  check_same_rows(place, "alltoall_base", out, in);
}

void check_position(const CallPlace& place, const char* op, std::int64_t position, bool other) {
  if (position < 0 || position >= place.size) {
    refuse(place, op, "no such position: ", position, " of ", place.size, " ranks");
  }
  if (other && position == place.rank) refuse(place, op, "a rank cannot send to itself: position ", position);
}

std::int64_t checked_dim(const CallPlace& place, const char* op, const at::Tensor& tensor, std::int64_t dim) {
  check_defined(place, op, tensor);
  if (dim < -tensor.dim() || dim >= tensor.dim()) refuse(place, op, "no such dim: ", dim, " of ", describe(tensor));
  return dim < 0 ? dim + tensor.dim() : dim;
}

void check_divisible(const CallPlace& place, const char* op, const at::Tensor& tensor, std::int64_t dim) {
  if (tensor.size(dim) % place.size != 0) {
    refuse(place, op, "the number of ranks must divide the dim: dim ", dim, " of ", describe(tensor), ", ", place.size,
           " ranks");
  }
}

}  // namespace titan::comm
