#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "titan/abi/host.h"
#include "titan/sdk/text.hpp"

namespace titan::sdk {

/// An error on its way out of the plugin: a message ("what is wrong: values") and a TITAN_ERROR_* code. The host puts
/// the plugin's name and the callback in front.
class Error : public std::runtime_error {
 public:
  Error(std::int32_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  std::int32_t code() const noexcept { return code_; }

 private:
  std::int32_t code_;
};

/// Error of one fixed code whose constructor joins its arguments to the message.
template <std::int32_t kCode>
class CodedError : public Error {
 public:
  template <class... Parts>
  explicit CodedError(const Parts&... parts) : Error(kCode, concat(parts...)) {}
};

using ConfigError = CodedError<TITAN_ERROR_CONFIG>;         // a configuration value is wrong
using DataError = CodedError<TITAN_ERROR_DATA>;             // an input has bad content
using InputError = CodedError<TITAN_ERROR_NO_INPUT>;        // an input does not exist or cannot be read
using CreateError = CodedError<TITAN_ERROR_CANNOT_CREATE>;  // an output cannot be created
using IoError = CodedError<TITAN_ERROR_IO>;                 // reading or writing failed
using AbiError = CodedError<TITAN_ERROR_ABI>;               // the host lacks what the plugin needs
using InternalError = CodedError<TITAN_ERROR_INTERNAL>;     // a contract is broken

/// An error object received from the host, kept whole so that a guard can pass it on unchanged.
class HostError : public Error {
 public:
  HostError(const titan_host* host, titan_error* error)
      : Error(host->error_code(host, error), std::string(view(host->error_text(host, error)))),
        held_(std::make_shared<Held>(host, error)) {}

  /// Gives the object away, once; null afterwards.
  titan_error* release() const noexcept { return std::exchange(held_->error, nullptr); }

 private:
  struct Held {
    Held(const titan_host* h, titan_error* e) : host(h), error(e) {}
    ~Held() { host->error_release(host, error); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    const titan_host* host;
    titan_error* error;
  };
  std::shared_ptr<Held> held_;
};

/// Throws HostError unless the host's function succeeded.
inline void check(const titan_host* host, titan_error* error) {
  if (error != nullptr) [[unlikely]]
    throw HostError(host, error);
}

/// Turns the exception being handled into an error object. `make(code, text) -> titan_error*` must not throw.
template <class Make>
titan_error* current_error(Make&& make) noexcept {
  try {
    throw;
  } catch (const HostError& error) {
    titan_error* whole = error.release();
    return whole != nullptr ? whole : make(error.code(), borrow(error.what()));
  } catch (const Error& error) {
    return make(error.code(), borrow(error.what()));
  } catch (const std::bad_alloc&) {
    return make(TITAN_ERROR_RESOURCE, borrow("out of memory"));
  } catch (const std::exception& error) {
    return make(TITAN_ERROR_INTERNAL, borrow(error.what()));
  } catch (...) {
    return make(TITAN_ERROR_INTERNAL, borrow("an exception of unknown type"));
  }
}

/// Runs `body`; what it throws becomes the returned error object. Every callback given to the host goes through it.
template <class Body>
titan_error* guard(const titan_host* host, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return nullptr;
  } catch (...) {
    return current_error([host](std::int32_t code, titan_string text) { return host->error_new(host, code, text); });
  }
}

}  // namespace titan::sdk
