#include "core/train/gradients.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/optim/grad_norm.hpp"

namespace titan::train {
namespace {

constexpr std::size_t kMostNamed = 3;

}  // namespace

void refuse_gradients(const nn::Tree& tree, std::int64_t step, double norm) {
  std::vector<std::string> named;
  std::size_t concerned = 0;
  for (const auto& parameter : tree.parameters()) {
    if (std::isfinite(optim::gradient_norm({parameter->gradient}))) continue;
    if (++concerned <= kMostNamed) named.push_back(parameter->name);
  }
  throw NonFiniteError(
      "[train] the gradient norm is not finite, stopped before the update, weights are unchanged: step ", step,
      ", norm ", std::abs(norm), ", ", concerned, " of ", tree.parameters().size(),
      concerned == 0 ? " parameters of this rank concerned" : " parameters concerned: ", join(named, ", "),
      concerned > kMostNamed ? ", ..." : "",
      ": the plugin observability, which this run is without, finds where it comes from");
}

}  // namespace titan::train
