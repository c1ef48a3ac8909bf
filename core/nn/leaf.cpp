#include "core/nn/leaf.hpp"

#include <array>
#include <utility>
#include <vector>

namespace titan::nn {
namespace {

constexpr std::array<std::pair<std::string_view, LeafFactory>, 9> kKinds = {
    {{"titan.linear", make_linear},
     {"titan.embedding", make_embedding},
     {"titan.rms_norm", make_rms_norm},
     {"titan.rope", make_rope},
     {"titan.attention", make_attention},
     {"titan.swiglu", make_swiglu},
     {"titan.router", make_router},
     {"titan.grouped_experts", make_grouped_experts},
     {"titan.cross_entropy", make_cross_entropy}}};

std::string shape_text(const at::Tensor& tensor) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : tensor.sizes()) sizes.push_back(concat(size));
  return concat('[', join(sizes, ", "), ']');
}

}  // namespace

LeafFactory leaf_factory(std::string_view kind, std::string_view module) {
  std::vector<std::string> names;
  for (const auto& [name, factory] : kKinds) {
    if (name == kind) return factory;
    names.emplace_back(name);
  }
  throw PluginError("[", module, "] unknown leaf kind: \"", printable(kind), "\", known are: ", join(names, ", "));
}

void Leaf::require_inputs(const Tensors& in, std::size_t least, std::size_t most) const {
  if (in.size() >= least && in.size() <= most) return;
  const std::string takes = least == most ? concat(least) : concat(least, " to ", most);
  fail("wrong number of inputs: takes ", takes, ", given ", in.size());
}

void Leaf::require_dims(const at::Tensor& tensor, std::int64_t num_dims, std::string_view input) const {
  if (tensor.dim() != num_dims) {
    fail("input has the wrong number of dims: ", input, " must have ", num_dims, ", has ", shape_text(tensor));
  }
}

void Leaf::require_floating(const at::Tensor& tensor, std::string_view input) const {
  if (!tensor.is_floating_point()) {
    fail("input must be floating: ", input, " is ", c10::toString(tensor.scalar_type()));
  }
}

void Leaf::require_int64(const at::Tensor& tensor, std::string_view input) const {
  if (tensor.scalar_type() != at::kLong) {
    fail("input must be int64: ", input, " is ", c10::toString(tensor.scalar_type()));
  }
}

void Leaf::require_size(const at::Tensor& tensor, std::int64_t dim, std::int64_t size, std::string_view input) const {
  const std::int64_t index = dim < 0 ? dim + tensor.dim() : dim;
  if (index < 0 || index >= tensor.dim() || tensor.size(index) != size) {
    fail("input has the wrong size: ", input, " must have ", size, " in dim ", dim, ", has ", shape_text(tensor));
  }
}

void Leaf::require_same_shape(const at::Tensor& tensor, const at::Tensor& other, std::string_view input) const {
  if (tensor.sizes() != other.sizes()) {
    fail("inputs must have one shape: ", input, " has ", shape_text(tensor), " beside ", shape_text(other));
  }
}

}  // namespace titan::nn
