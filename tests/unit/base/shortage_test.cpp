#include "core/base/shortage.hpp"

#include <gtest/gtest.h>

namespace titan {
namespace {

std::uint64_t told = 0;

TEST(Shortage, IsToldToTheListenerWhileThereIsOne) {
  tell_of_shortage(1);
  set_shortage_listener([](std::uint64_t bytes) { told = bytes; });
  tell_of_shortage(7);
  EXPECT_EQ(told, 7U);
  set_shortage_listener(nullptr);
  tell_of_shortage(9);
  EXPECT_EQ(told, 7U);
}

}  // namespace
}  // namespace titan
