#pragma once

#include <string>

#include "core/base/error.hpp"

namespace titan::test {

/// What a call threw.
struct Thrown {
  Exit exit = Exit::done;  // done: it threw nothing
  std::string message;
};

/// Runs a call and tells the titan::Error it threw.
template <class Call>
Thrown thrown_by(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return {error.exit(), error.what()};
  }
  return {};
}

}  // namespace titan::test
