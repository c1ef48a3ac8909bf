#include "core/base/abi_error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace titan {
namespace {

/// Code and text of what `body` becomes at the ABI; empty for success.
template <class Body>
std::string guarded(Body&& body) {
  titan_error* error = abi_guard(body);
  if (error == nullptr) return {};
  const std::string out = concat(error->code, ": ", error->text);
  delete_abi_error(error);
  return out;
}

TEST(AbiError, KeepsCodeAndText) {
  titan_error* error = new_abi_error(TITAN_ERROR_IO, "disk full");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, TITAN_ERROR_IO);
  EXPECT_EQ(error->text, "disk full");
  EXPECT_FALSE(error->shared);
  delete_abi_error(error);
  delete_abi_error(nullptr);
}

TEST(AbiError, GuardReturnsNullOnSuccess) {
  EXPECT_EQ(guarded([] {}), "");
}

TEST(AbiError, GuardTurnsExceptionsIntoTheirCodes) {
  EXPECT_EQ(guarded([] { throw ConfigError("wrong: ", 3); }), "78: wrong: 3");
  EXPECT_EQ(guarded([] { throw DataError("line 4"); }), "65: line 4");
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); }), "71: out of memory");
  EXPECT_EQ(guarded([] { throw std::runtime_error("odd"); }), "70: odd");
  EXPECT_EQ(guarded([] { throw 7; }), "70: unknown C++ exception");
}

TEST(AbiError, AnErrorThatOutlivesTheHeapIsNotFreed) {
  titan_error shared{TITAN_ERROR_RESOURCE, "out of memory", true};
  delete_abi_error(&shared);
  EXPECT_EQ(shared.text, "out of memory");
}

}  // namespace
}  // namespace titan
