#pragma once

#include <array>

#include "core/comm/channel.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm {

struct Work::Impl {
  std::shared_ptr<Channel> channel;
  c10::intrusive_ptr<TimedWork> work;
  WorkRecord record;  // as it was when the call was made
  std::array<at::Tensor, 2> tensors;
};

}  // namespace titan::comm
