#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "titan/abi/base.h"

/// The object behind the ABI's titan_error. Host and engine share the definition, so either may free the other's.
struct titan_error {
  std::int32_t code;
  std::string text;
  bool shared = false;  // not on the heap
};

namespace titan {

/// Makes an error for the ABI; free it with delete_abi_error. Out of memory gives a shared error of that kind.
inline titan_error* new_abi_error(std::int32_t code, std::string_view text) noexcept {
  try {
    return new titan_error{code, std::string(text), false};
  } catch (...) {
    static titan_error out_of_memory{TITAN_ERROR_RESOURCE, "out of memory", true};
    return &out_of_memory;
  }
}

/// Frees an error of new_abi_error. Null is allowed.
inline void delete_abi_error(titan_error* error) noexcept {
  if (error != nullptr && !error->shared) delete error;
}

/// Runs `body`; an exception becomes the titan_error it stands for. For every function of a host table.
template <class Body>
titan_error* abi_guard(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Error& error) {
    return new_abi_error(static_cast<std::int32_t>(error.exit()), error.what());
  } catch (const Interrupted& interruption) {
    return new_abi_error(TITAN_ERROR_QUIT, interruption.what());
  } catch (const std::bad_alloc&) {
    return new_abi_error(TITAN_ERROR_RESOURCE, "out of memory");
  } catch (const std::exception& error) {
    return new_abi_error(TITAN_ERROR_INTERNAL, error.what());
  } catch (...) {
    return new_abi_error(TITAN_ERROR_INTERNAL, "unknown C++ exception");
  }
}

}  // namespace titan
