#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "titan/sdk/error.hpp"

namespace titan::strategy {

/// Runs `body` for a callback given to the host. What it throws becomes the returned error object, libtorch's errors
/// without their backtraces.
template <class Body>
titan_error* guard(const titan_host* host, Body&& body) noexcept {
  return sdk::guard(host, [&] {
    try {
      std::forward<Body>(body)();
    } catch (const c10::OutOfMemoryError& error) {
      throw sdk::CodedError<TITAN_ERROR_RESOURCE>(error.what_without_backtrace());
    } catch (const c10::Error& error) {
      throw sdk::InternalError(error.what_without_backtrace());
    }
  });
}

/// What is added to a TITAN_ERROR_* code in a c10::AcceleratorError, whose own codes are those of devices.
inline constexpr std::int32_t kBackwardError = 0x7174'0000;

/// The TITAN_ERROR_* code of an error that run_in_backward() threw with one.
inline std::optional<std::int32_t> backward_error_code(const c10::Error& error) {
  const auto* coded = dynamic_cast<const c10::AcceleratorError*>(&error);
  if (coded == nullptr || (coded->get_error_code() & ~0xFFFF) != kBackwardError) return std::nullopt;
  return coded->get_error_code() & 0xFFFF;
}

/// Runs `body` inside a hook of libtorch's backward. What it throws ends backward(), in the host; an exception class of
/// libtorch carries the error's code there, since this plugin's own classes mean nothing outside of it.
template <class Body>
void run_in_backward(Body&& body) {
  const c10::SourceLocation here{__func__, __FILE__, __LINE__};
  try {
    std::forward<Body>(body)();
  } catch (const sdk::Error& error) {
    if (error.code() == TITAN_ERROR_UNAVAILABLE) throw c10::DistBackendError(here, error.what());
    if (error.code() == TITAN_ERROR_RESOURCE) throw c10::OutOfMemoryError(here, error.what());
    throw c10::AcceleratorError(here, kBackwardError + error.code(), error.what());
  }
}

}  // namespace titan::strategy
