#pragma once

#include <cstdint>

namespace titan {

/// Told that memory is out, before anything is unwound: bytes that were asked for, 0 where they are not known. [any
/// thread]
using ShortageListener = void (*)(std::uint64_t bytes);

/// Makes a function the listener, or nobody. [any thread]
void set_shortage_listener(ShortageListener listener);
/// Call before throwing that there is no memory. Nobody is told while the calling thread has a ShortageSilence.
void tell_of_shortage(std::uint64_t bytes) noexcept;

/// Keeps the calling thread from telling of shortages: it holds a lock that the listener's report needs.
class ShortageSilence {
 public:
  ShortageSilence() noexcept;
  ~ShortageSilence();
  ShortageSilence(const ShortageSilence&) = delete;
  ShortageSilence& operator=(const ShortageSilence&) = delete;
};

}  // namespace titan
