#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace titan::testing {

/// Calls `action` and returns the text of the `Error` it must throw; fails the test when it throws none or another.
template <class Error, class Action>
std::string error_text(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "threw nothing";
  return {};
}

}  // namespace titan::testing
