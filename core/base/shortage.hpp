#pragma once

#include <cstdint>

namespace titan {

/// Told that memory is out, before anything is unwound: bytes that were asked for, 0 where they are not known. [any
/// thread]
using ShortageListener = void (*)(std::uint64_t bytes);

/// Makes a function the listener, or nobody. [any thread]
void set_shortage_listener(ShortageListener listener);
/// Call before throwing that there is no memory.
void tell_of_shortage(std::uint64_t bytes) noexcept;

}  // namespace titan
