#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>

namespace titan::parallel {

/// Which results of a block are kept from forward to backward, in selective checkpointing: those of attention, and
/// every other matrix product. One for each pass through a block: it counts.
class OperatorPolicy {
 public:
  /// Whether to keep the results of this call. To be asked of every call, in order.
  bool keeps(const c10::OperatorHandle& op);

 private:
  std::int64_t num_products_ = 0;
};

}  // namespace titan::parallel
