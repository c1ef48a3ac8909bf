#include "core/train/ending.hpp"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <new>

#include "core/base/error.hpp"
#include "titan/torch/error.hpp"

namespace titan::train {
namespace {

template <class Failure>
Ending ending(const Failure& failure) {
  return ending_of(std::make_exception_ptr(failure));
}

template <class Thrown, class Failure>
std::string translated(const Failure& failure) {
  try {
    try {
      throw failure;
    } catch (...) {
      rethrow_for_host();
    }
  } catch (const Thrown& thrown) {
    return thrown.what();
  }
  return {};
}

TEST(Ending, TakesTheCodeOfAnError) {
  EXPECT_EQ(ending(DataError("broken")).code, 65);
  EXPECT_EQ(ending(NonFiniteError("nan")).code, 80);
  EXPECT_EQ(ending(DataError("broken")).message, "broken");
}

TEST(Ending, IsTheSignalOfAnInterruption) { EXPECT_EQ(ending(Interrupted(SIGTERM)).code, 128 + SIGTERM); }

TEST(Ending, IsInternalForEverythingElse) {
  EXPECT_EQ(ending(std::runtime_error("x")).code, 70);
  EXPECT_EQ(ending(3).code, 70);
}

TEST(Ending, IsTheCodeThatTheProgramExitsWith) {
  EXPECT_EQ(ending(std::bad_alloc()).code, 71);
  EXPECT_EQ(ending(c10::OutOfMemoryError({}, "GPU full")).code, 71);
  EXPECT_EQ(ending(c10::Error({}, "DefaultCPUAllocator: can't allocate memory")).code, 71);
  EXPECT_EQ(ending(c10::DistError({}, "a peer is lost")).code, 69);
  EXPECT_EQ(ending(c10::Error({}, "sizes do not match")).code, 70);
}

TEST(Ending, KeepsTheCodeThatAPluginThrewInsideBackward) {
  const auto thrown_in_backward = [](const sdk::Error& error) {
    try {
      strategy::run_in_backward([&] { throw error; });
    } catch (...) {
      return ending_of(std::current_exception());
    }
    return Ending{};
  };
  const Ending quit = thrown_in_backward(sdk::Error(TITAN_ERROR_QUIT, "quit at the breakpoint"));
  EXPECT_EQ(quit.code, 130);
  EXPECT_EQ(quit.message, "quit at the breakpoint");
  EXPECT_EQ(thrown_in_backward(sdk::Error(TITAN_ERROR_NON_FINITE, "nan")).code, 80);
  EXPECT_EQ(thrown_in_backward(sdk::Error(TITAN_ERROR_UNAVAILABLE, "lost")).code, 69);
  EXPECT_EQ(ending(c10::AcceleratorError({}, 700, "illegal address")).code, 70) << "a device's own code";
}

TEST(Ending, TellsAShortageOfMemoryFromOtherFailures) {
  EXPECT_THAT(translated<ResourceError>(std::bad_alloc()), testing::HasSubstr("out of memory"));
  EXPECT_THAT(translated<ResourceError>(c10::OutOfMemoryError({}, "GPU full")), testing::HasSubstr("GPU full"));
  EXPECT_THAT(translated<ResourceError>(
                  c10::Error({}, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")),
              testing::HasSubstr("9 bytes"));
  EXPECT_THAT(translated<InternalError>(c10::Error({}, "sizes do not match")),
              testing::HasSubstr("sizes do not match"));
}

TEST(Ending, LeavesOurOwnErrorsAsTheyAre) {
  EXPECT_EQ(translated<ConfigError>(ConfigError("wrong")), "wrong");
  EXPECT_FALSE(translated<Interrupted>(Interrupted(SIGINT)).empty());
}

}  // namespace
}  // namespace titan::train
