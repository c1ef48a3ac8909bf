#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace titan::train {

/// How a run ended: 0, an exit code (TITAN_ERROR_*), or 128 + signal; and the message of a failure.
struct Ending {
  std::int32_t code = 0;
  std::string message;
};

/// What the program will make of an exception that leaves the run through rethrow_for_host().
Ending ending_of(const std::exception_ptr& failure);

/// Throws the exception being handled in a form the host knows: libtorch's and the standard library's shortage of
/// memory as ResourceError, a lost peer as PeerError, libtorch's other errors as InternalError, everything else as it
/// is. Call in a catch block.
[[noreturn]] void rethrow_for_host();

}  // namespace titan::train
