#include "plugins/observability/breakpoint/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

namespace titan::observability {
namespace {

TEST(Descriptor, IsClosedUnlessItIsKept) {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    Descriptor kept(number);
    kept.keep();
  }
  EXPECT_GE(::fcntl(number, F_GETFD), 0);
  { const Descriptor owned(number); }
  EXPECT_LT(::fcntl(number, F_GETFD), 0);
}

TEST(Descriptor, AVariableNamesAnOpenOne) {
  const Descriptor open(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto named = [](const std::string& value) {
    ::setenv("TITAN_TEST_DESCRIPTOR", value.c_str(), 1);
    return named_descriptor("TITAN_TEST_DESCRIPTOR");
  };
  EXPECT_EQ(named(std::to_string(open.get())), open.get());
  for (const char* wrong : {"", "x", "-1", "1", "5 ", "100000", "99999999999"}) EXPECT_EQ(named(wrong), -1) << wrong;
  ::unsetenv("TITAN_TEST_DESCRIPTOR");
  EXPECT_EQ(named_descriptor("TITAN_TEST_DESCRIPTOR"), -1);
}

TEST(Descriptor, WritesAllOfAText) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor reading(ends[0]), writing(ends[1]);
  write_whole(writing.get(), "whole");
  std::array<char, 8> text{};
  EXPECT_EQ(::read(reading.get(), text.data(), text.size()), 5);
}

}  // namespace
}  // namespace titan::observability
