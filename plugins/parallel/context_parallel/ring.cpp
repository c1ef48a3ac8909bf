#include "plugins/parallel/context_parallel/ring.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>

#include <utility>

namespace titan::parallel {

void Ring::start(const at::Tensor& held) {
  RECORD_USER_SCOPE("communication::ring");
  const std::int64_t rank = group_.rank(), size = group_.size();
  const auto next = static_cast<std::uint32_t>((rank + 1) % size);
  const auto previous = static_cast<std::uint32_t>((rank + size - 1) % size);
  arriving_ = at::empty_like(held);
  // Two ranks that both sent first would wait for each other where a channel does one thing after the other.
  const bool sends_first = rank % 2 == 0;
  if (sends_first) sending_ = group_.send(held, next, tag_);
  receiving_ = group_.receive(arriving_, previous, tag_);
  if (!sends_first) sending_ = group_.send(held, next, tag_);
}

at::Tensor Ring::finish() {
  receiving_.wait();
  sending_.wait();
  return std::exchange(arriving_, {});
}

}  // namespace titan::parallel
