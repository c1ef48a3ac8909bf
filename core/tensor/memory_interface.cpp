#include "core/tensor/memory_interface.hpp"

#include "core/base/abi_error.hpp"
#include "core/base/abi_struct.hpp"
#include "core/base/position.hpp"
#include "core/tensor/allocator.hpp"
#include "core/tensor/memory_listeners.hpp"

namespace titan::tensor {
namespace {

titan_error* listen(const titan_memory_listener* listener) {
  return abi_guard([&] { memory_listeners().add(listener); });
}

void unlisten(const titan_memory_listener* listener) { memory_listeners().remove(listener); }

void counters(titan_memory_counters* out) {
  titan_memory_counters now{};
  now.live = static_cast<std::uint64_t>(live_bytes());
  now.peak = static_cast<std::uint64_t>(highest_bytes());
  now.cached = static_cast<std::uint64_t>(cached_bytes());
  now.limit = static_cast<std::uint64_t>(memory_limit());
  fill_abi_struct(out, now);
}

void here(titan_place* out) {
  titan_place nowhere{};
  nowhere.phase = -1;
  nowhere.micro_batch = -1;
  const Position* position = current_position();
  fill_abi_struct(out, position != nullptr ? position->place() : nowhere);
}

}  // namespace

const titan_memory_v1* memory_interface() {
  static constexpr titan_memory_v1 kTable{sizeof(titan_memory_v1), &listen, &unlisten, &counters, &here};
  return &kTable;
}

}  // namespace titan::tensor
