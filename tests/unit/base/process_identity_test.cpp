#include "core/base/process_identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace titan {
namespace {

TEST(ProcessIdentity, OfALivingProcessIsNoEndedOne) { EXPECT_FALSE(has_process_ended(process_identity())); }

TEST(ProcessIdentity, SaysWhetherItIsOfThisMachine) {
  EXPECT_TRUE(is_of_this_machine(process_identity()));
  EXPECT_FALSE(is_of_this_machine("another_boot/pid:[1] 7 70"));
  EXPECT_FALSE(is_of_this_machine("released"));
}

TEST(ProcessIdentity, OfAnEndedProcessIsKnown) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string mine = process_identity();
    const bool is_written = ::write(pipe[1], mine.data(), mine.size()) == static_cast<ssize_t>(mine.size());
    ::_exit(is_written ? 0 : 1);
  }
  std::array<char, 512> text{};
  const ssize_t size = ::read(pipe[0], text.data(), text.size());
  ASSERT_GT(size, 0);
  const std::string_view identity(text.data(), static_cast<std::size_t>(size));
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(has_process_ended(identity));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(ProcessIdentity, OfAnotherMachineOrNoneIsNotKnownToHaveEnded) {
  const std::string mine = process_identity();
  EXPECT_FALSE(has_process_ended("elsewhere" + mine));
  EXPECT_FALSE(has_process_ended(""));
  EXPECT_FALSE(has_process_ended("released"));
}

}  // namespace
}  // namespace titan
