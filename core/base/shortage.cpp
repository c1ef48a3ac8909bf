#include "core/base/shortage.hpp"

#include <atomic>

namespace titan {
namespace {

std::atomic<ShortageListener> current_listener{nullptr};
thread_local int silences = 0;

}  // namespace

void set_shortage_listener(ShortageListener listener) { current_listener.store(listener); }

void tell_of_shortage(std::uint64_t bytes) noexcept {
  if (silences > 0) return;
  const ShortageListener listener = current_listener.load();
  if (listener != nullptr) listener(bytes);
}

ShortageSilence::ShortageSilence() noexcept { ++silences; }
ShortageSilence::~ShortageSilence() { --silences; }

}  // namespace titan
