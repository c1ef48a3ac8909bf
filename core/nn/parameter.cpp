#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/nn/initial_values.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

constexpr std::uint32_t kMostDims = 8;

template <class... Parts>
[[noreturn]] void fail(const Parameter& parameter, const Parts&... parts) {
  throw PluginError("[", parameter.name, "] ", parts...);
}

void check_shape(const Parameter& parameter) {
  std::int64_t elements = 1;
  for (const std::int64_t size : parameter.shape) {
    if (size <= 0) fail(parameter, "sizes must be above 0: given ", size);
    // A quarter of the range, so that bytes do not overflow either.
    if (elements > std::numeric_limits<std::int64_t>::max() / 16 / size) fail(parameter, "the shape is too large");
    elements *= size;
  }
}

void check_split(const Parameter& parameter) {
  if (parameter.split < TITAN_SPLIT_REPLICATE || parameter.split > TITAN_SPLIT_EXPERT_ROW) {
    fail(parameter, "unknown split: number ", parameter.split);
  }
  if (parameter.split == TITAN_SPLIT_ROW && parameter.shape.size() < 2) fail(parameter, "a row split needs two dims");
  if (parameter.split >= TITAN_SPLIT_EXPERT_COLUMN && parameter.shape.size() != 3) {
    fail(parameter, "a split of experts needs three dims: [experts, out, in]");
  }
}

void check_init(const Parameter& parameter) {
  const Init& init = parameter.init;
  switch (init.kind) {
    case TITAN_INIT_CONSTANT:
      if (!std::isfinite(init.value)) fail(parameter, "the initial value must be finite");
      return;
    case TITAN_INIT_TRUNC_NORMAL:
      if (!(init.low < init.high)) fail(parameter, "low must be below high: ", init.low, ", ", init.high);
      [[fallthrough]];
    case TITAN_INIT_NORMAL:
      if (!std::isfinite(init.mean) || !std::isfinite(init.std) || init.std < 0) {
        fail(parameter, "mean and std must be finite, std not negative: ", init.mean, ", ", init.std);
      }
      return;
    default:
      fail(parameter, "unknown initialiser: number ", init.kind);
  }
}

}  // namespace

std::unique_ptr<Parameter> checked_parameter(std::string name, const titan_parameter& declaration) {
  auto parameter = std::make_unique<Parameter>();
  parameter->name = std::move(name);
  if (declaration.num_dims == 0 || declaration.num_dims > kMostDims || declaration.shape == nullptr) {
    fail(*parameter, "must have 1 to ", kMostDims, " dims: given ", declaration.shape ? declaration.num_dims : 0);
  }
  parameter->shape.assign(declaration.shape, declaration.shape + declaration.num_dims);
  parameter->split = declaration.split;
  parameter->init = {declaration.init, declaration.value, declaration.mean,
                     declaration.std,  declaration.low,   declaration.high};
  check_shape(*parameter);
  check_split(*parameter);
  check_init(*parameter);
  parameter->part = whole(parameter->shape);
  return parameter;
}

}  // namespace titan::nn
