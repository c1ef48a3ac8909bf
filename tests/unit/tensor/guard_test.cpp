#include "core/tensor/guard.hpp"

#include <gtest/gtest.h>

#include <new>

#include "tests/support/error_text.hpp"
#include "titan/torch/error.hpp"

namespace titan::tensor {
namespace {

struct Given {
  std::int32_t code;
  std::string text;
};

template <class Body>
Given given(Body body) {
  titan_error* error = guarded(body);
  if (error == nullptr) return {0, {}};
  const std::int32_t code = error->code;
  return {code, testing::error_text(error)};
}

TEST(Guard, NothingThrownIsNoError) {
  EXPECT_EQ(guarded([] {}), nullptr);
}

TEST(Guard, EveryExceptionHasItsCode) {
  EXPECT_EQ(given([] { throw ConfigError("a"); }).code, TITAN_ERROR_CONFIG);
  EXPECT_EQ(given([] { throw std::bad_alloc(); }).code, TITAN_ERROR_RESOURCE);
  EXPECT_EQ(given([] { throw std::runtime_error("b"); }).text, "b");
  EXPECT_EQ(given([] { TORCH_CHECK(false, "broken"); }).code, TITAN_ERROR_INTERNAL);
  EXPECT_EQ(given([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "full"); }).code, TITAN_ERROR_RESOURCE);
  EXPECT_EQ(given([] { TORCH_CHECK_WITH(DistBackendError, false, "gone"); }).code, TITAN_ERROR_UNAVAILABLE);
}

TEST(Guard, WhatAPluginThrewInsideBackwardKeepsItsCode) {
  const auto code_of = [](std::int32_t code) {
    return given([code] { strategy::run_in_backward([code] { throw sdk::Error(code, "why"); }); }).code;
  };
  for (const std::int32_t code : {TITAN_ERROR_QUIT, TITAN_ERROR_NON_FINITE, TITAN_ERROR_CONFIG}) {
    EXPECT_EQ(code_of(code), code);
  }
}

TEST(Guard, LibtorchErrorsLoseTheirBacktraceAndGainAPlace) {
  EXPECT_EQ(given([] { TORCH_CHECK(false, "broken ", 7); }).text, "broken 7");
  const auto placed = [] {
    try {
      TORCH_CHECK(false, "broken");
    } catch (const c10::Error&) {
      rethrow_torch_error("[layers.0] ");
    }
  };
  EXPECT_EQ(given(placed).text, "[layers.0] broken");
}

}  // namespace
}  // namespace titan::tensor
