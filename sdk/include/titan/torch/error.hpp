#pragma once

#include <c10/util/Exception.h>

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

/// Runs `body` inside a hook of libtorch's backward. What it throws ends backward(), in the host; an exception class of
/// libtorch carries the error's kind there, since this plugin's own classes mean nothing outside of it.
template <class Body>
void run_in_backward(Body&& body) {
  const c10::SourceLocation here{__func__, __FILE__, __LINE__};
  try {
    std::forward<Body>(body)();
  } catch (const sdk::Error& error) {
    if (error.code() == TITAN_ERROR_UNAVAILABLE) throw c10::DistBackendError(here, error.what());
    if (error.code() == TITAN_ERROR_RESOURCE) throw c10::OutOfMemoryError(here, error.what());
    throw c10::Error(here, error.what());
  }
}

}  // namespace titan::strategy
