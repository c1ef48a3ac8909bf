#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/text.hpp"

namespace titan {

/// Exit codes of the program. Only `main` turns an error into one.
enum class Exit : int {
  done = 0,
  usage = 64,
  data = 65,
  no_input = 66,
  unavailable = 69,
  internal = 70,
  resource = 71,
  cannot_create = 73,
  io = 74,
  stopped = 75,
  abi = 76,
  trust = 77,
  config = 78,
  non_finite = 80,
};

/// Base of all errors thrown on purpose: a message and the exit code it leads to.
class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const noexcept { return exit_; }

 private:
  Exit exit_;
};

/// Declares an error class whose constructor concatenates its arguments to the message.
#define TITAN_DECLARE_ERROR(Name, code)                                           \
  class Name : public Error {                                                     \
   public:                                                                        \
    template <class... Parts>                                                     \
    explicit Name(const Parts&... parts) : Error(Exit::code, concat(parts...)) {} \
  }

TITAN_DECLARE_ERROR(UsageError, usage);           // a malformed or unknown command-line flag
TITAN_DECLARE_ERROR(ConfigError, config);         // a wrong configuration value
TITAN_DECLARE_ERROR(DataError, data);             // bad content of a data set, tokenizer or checkpoint
TITAN_DECLARE_ERROR(InputError, no_input);        // an input does not exist or cannot be read
TITAN_DECLARE_ERROR(PeerError, unavailable);      // a peer is lost, or a deadline passed
TITAN_DECLARE_ERROR(ResourceError, resource);     // out of memory or another system resource
TITAN_DECLARE_ERROR(CreateError, cannot_create);  // an output cannot be created
TITAN_DECLARE_ERROR(IoError, io);                 // reading or writing failed
TITAN_DECLARE_ERROR(Stopped, stopped);            // no failure: a stop was asked for, and the state is saved
TITAN_DECLARE_ERROR(AbiError, abi);               // a plugin does not fit this host
TITAN_DECLARE_ERROR(TrustError, trust);           // the provenance of a file is refused
TITAN_DECLARE_ERROR(PluginError, internal);       // a plugin broke the contract
TITAN_DECLARE_ERROR(NonFiniteError, non_finite);  // loss or gradient norm is not finite
TITAN_DECLARE_ERROR(InternalError, internal);     // our mistake

/// Thrown at the next safe point after SIGINT, SIGTERM or SIGHUP; leads to exit code 128 + signal.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  Interrupted(int signal, const std::string& message) : std::runtime_error(message), signal_(signal) {}
  int signal() const noexcept { return signal_; }

 private:
  int signal_;
};

}  // namespace titan

/// Throws InternalError with file and line unless `condition` holds.
#define TITAN_CHECK(condition, ...)                                                                             \
  do {                                                                                                          \
    if (!(condition)) throw ::titan::InternalError(__FILE__, ":", __LINE__, ": " #condition ": ", __VA_ARGS__); \
  } while (false)
