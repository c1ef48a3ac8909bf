// Placements of parameters and the ledger of their gradients.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

using config::Axis;

constexpr std::array kDataAxes = {Axis::dp_replicate, Axis::dp_shard, Axis::cp};
constexpr std::int32_t kForms = TITAN_OWN_COMPUTE | TITAN_OWN_GRADIENT;

template <class... Parts>
[[noreturn]] void fail(const Parameter& parameter, const Parts&... parts) {
  throw PluginError("[", parameter.name, "] ", parts...);
}

AxisPlacement& along(Parameter& parameter, Axis axis) { return parameter.placements[static_cast<std::size_t>(axis)]; }
const AxisPlacement& along(const Parameter& parameter, Axis axis) {
  return parameter.placements[static_cast<std::size_t>(axis)];
}

std::string_view state_name(std::int32_t state) {
  switch (state) {
    case TITAN_GRADIENT_EQUAL:
      return "equal";
    case TITAN_GRADIENT_PARTIAL:
      return "partial";
    case TITAN_GRADIENT_SHARDED:
      return "sharded";
    default:
      return "";
  }
}

void check_state(const Parameter& parameter, std::int32_t state) {
  if (state_name(state).empty()) fail(parameter, "unknown state of a gradient: number ", state);
}

void check_box(const Parameter& parameter, std::int64_t dim, std::int64_t offset, std::int64_t length) {
  const auto num_dims = static_cast<std::int64_t>(parameter.shape.size());
  if (dim < 0 || dim >= num_dims) fail(parameter, "no such dim to shard: dim ", dim, ", there are ", num_dims);
  const std::int64_t size = parameter.part.size[static_cast<std::size_t>(dim)];
  if (offset < 0 || length < 0 || offset > size || length > size - offset) {
    fail(parameter, "a shard reaches outside this rank's part: offset ", offset, ", length ", length, ", part ", size,
         " on dim ", dim);
  }
}

void check_placement(const Parameter& parameter, Axis axis) {
  const AxisPlacement& placement = along(parameter, axis);
  if (placement.gradient == TITAN_GRADIENT_PARTIAL) {
    fail(parameter, "the gradient is still to be summed, no strategy has done it: axis ", config::name(axis));
  }
  const bool sharded = placement.gradient == TITAN_GRADIENT_SHARDED;
  if (sharded != placement.shard_dim.has_value()) {
    fail(parameter, "the gradient is placed unlike its parameter: axis ", config::name(axis), ", gradient ",
         state_name(placement.gradient), ", parameter ", placement.shard_dim ? "sharded" : "replicated");
  }
}

void check_gradient(const Parameter& parameter, const Precision& precision) {
  const at::Tensor& gradient = parameter.gradient;
  if (!gradient.defined()) {
    fail(parameter,
         "there is no gradient: the model declares a parameter that its forward does not use, or a strategy "
         "did not store its gradient");
  }
  if (gradient.sizes() != at::IntArrayRef(parameter.part.size)) {
    fail(parameter, "the gradient has another shape than this rank's part: ", c10::str(gradient.sizes()), ", part ",
         c10::str(at::IntArrayRef(parameter.part.size)));
  }
  if (gradient.scalar_type() != precision.reduce) {
    fail(parameter,
         "the gradient has another dtype than training.mixed_precision_reduce: ", c10::toString(gradient.scalar_type()),
         ", expected ", c10::toString(precision.reduce));
  }
}

}  // namespace

void Tree::set_mesh(const config::Mesh& mesh) {
  state_->require_building();
  state_->is_built = true;
  state_->mesh = mesh;
  for (const auto& parameter : state_->parameters) {
    for (const Axis axis : kDataAxes) {
      AxisPlacement& placement = along(*parameter, axis);
      placement.declared_gradient = state_->counts(axis) ? TITAN_GRADIENT_PARTIAL : TITAN_GRADIENT_EQUAL;
      placement.gradient = placement.declared_gradient;
    }
  }
}

void Tree::shard(Parameter& parameter, const std::vector<Axis>& axes, std::int64_t dim, std::int64_t offset,
                 std::int64_t length, bool cuts_further) {
  if (state_->materialised) fail(parameter, "cannot be sharded any more: its tensors exist");
  check_box(parameter, dim, offset, length);
  bool counts = false;
  for (const Axis axis : axes) {
    if (!state_->counts(axis)) continue;
    counts = true;
    const auto& known = along(parameter, axis).shard_dim;
    if (known && !(cuts_further && *known == dim)) fail(parameter, "is sharded already: axis ", config::name(axis));
  }
  std::int64_t& size = parameter.part.size[static_cast<std::size_t>(dim)];
  if (!counts && length != size) {
    fail(parameter, "a shard over one rank must hold everything: length ", length, " of ", size);
  }
  for (const Axis axis : axes) {
    if (state_->counts(axis)) along(parameter, axis).shard_dim = dim;
  }
  parameter.part.offset[static_cast<std::size_t>(dim)] += offset;
  size = length;
}

void Tree::declare_gradient(Parameter& parameter, const std::vector<Axis>& axes, std::int32_t state) {
  check_state(parameter, state);
  if (state_->materialised) fail(parameter, "its gradient cannot be declared any more: its tensors exist");
  for (const Axis axis : axes) {
    if (!state_->counts(axis)) continue;
    along(parameter, axis).declared_gradient = state;
    along(parameter, axis).gradient = state;
  }
}

void Tree::mark_gradient(Parameter& parameter, const std::vector<Axis>& axes, std::int32_t state) {
  check_state(parameter, state);
  if (state == TITAN_GRADIENT_PARTIAL) fail(parameter, "a reduction leaves a gradient equal or sharded, not partial");
  for (const Axis axis : axes) {
    if (state_->counts(axis)) along(parameter, axis).gradient = state;
  }
}

void Tree::take_over(Parameter& parameter, std::int32_t forms) {
  if (state_->materialised) fail(parameter, "cannot be taken over any more: its tensors exist");
  if (forms == 0 || (forms & ~kForms) != 0) fail(parameter, "unknown forms to take over: bits ", forms);
  if ((parameter.owned_forms & forms) != 0)
    fail(parameter, "another strategy looks after this form already: bits ", parameter.owned_forms & forms);
  parameter.owned_forms |= forms;
}

void Tree::begin_ledger() {
  for (const auto& parameter : state_->parameters) {
    for (AxisPlacement& placement : parameter->placements) placement.gradient = placement.declared_gradient;
    if ((parameter->owned_forms & TITAN_OWN_GRADIENT) != 0 && parameter->gradient.defined()) {
      fail(*parameter,
           "a step begins with the gradient of the last one: the strategy that looks after it must clear it");
    }
  }
}

void Tree::check_ledger() const {
  for (const auto& parameter : state_->parameters) {
    check_gradient(*parameter, state_->precision);
    for (const Axis axis : config::kAxes) {
      if (state_->counts(axis)) check_placement(*parameter, axis);
    }
  }
}

}  // namespace titan::nn
