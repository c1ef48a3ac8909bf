#include "core/train/interruption.hpp"

#include <limits>

namespace titan::train {
namespace {

// Outermost: nothing of the block has begun when it stops.
constexpr std::int32_t kPriority = std::numeric_limits<std::int32_t>::min();

}  // namespace

void stop_between_blocks(nn::Tree& tree, const StopFlag& stop) {
  const auto around = [&stop](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    stop.check();
    nn::Tensors outputs = next(frame, in);
    for (const at::Tensor& output : outputs) {
      if (output.requires_grad()) output.register_hook([&stop](const at::Tensor&) { stop.check(); });
    }
    return outputs;
  };
  for (const nn::ModuleId block : tree.chain()) tree.attach(block, kPriority, around, TITAN_AROUND_ANY_OUTPUTS);
}

}  // namespace titan::train
