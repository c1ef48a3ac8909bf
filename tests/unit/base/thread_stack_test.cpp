#include "core/base/thread_stack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace titan {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

pid_t own_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

std::atomic<bool> is_over{false};

// Hidden, as most of our functions are.
__attribute__((noinline, visibility("hidden"))) void dawdle(std::atomic<pid_t>& thread) {
  thread = own_thread();
  while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(ThreadStack, NamesTheFunctionsOfAnotherThread) {
  enable_thread_stacks();
  std::atomic<pid_t> thread{0};
  std::thread other([&] { dawdle(thread); });
  while (thread == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::vector<FunctionName> functions = stack_of(thread, seconds(60));
  EXPECT_THAT(functions, Contains(Field(&FunctionName::function, HasSubstr("dawdle"))));
  EXPECT_THAT(stack_text(functions, 8), HasSubstr("titan::dawdle"));
  is_over = true;
  other.join();
}

TEST(ThreadStack, IsEmptyForAThreadThatIsNotThere) {
  enable_thread_stacks();
  EXPECT_TRUE(stack_of(0x3fffffff, std::chrono::milliseconds(100)).empty());
}

TEST(ThreadStack, ShowsTheInnermostFunctionAndOurs) {
  const std::vector<FunctionName> functions = {{"clock_nanosleep", "libc.so.6"},
                                               {"nanosleep", "libc.so.6"},
                                               {"titan::a", "libtitan_engine.so"},
                                               {"at::mm", "libtorch_cpu.so"},
                                               {"+0x12", "plugin.so"},
                                               {"main", "titan"},
                                               {"_start", "titan"}};
  EXPECT_EQ(stack_text(functions, 8), "clock_nanosleep < titan::a < plugin.so+0x12 < main");
  EXPECT_EQ(stack_text(functions, 1), "clock_nanosleep < titan::a");
  EXPECT_EQ(stack_text({}, 1), "");
  EXPECT_EQ(stack_text({{"0x7f12", ""}}, 8), "generated code, whose callers cannot be told");
  EXPECT_EQ(stack_text({{"+0x12", "libtorch_cpu.so"}}, 8), "libtorch_cpu.so+0x12, whose callers cannot be told");
  EXPECT_EQ(stack_text({{"0x7f12", ""}, {"titan::a", "t.so"}}, 8), "generated code < titan::a");
}

}  // namespace
}  // namespace titan
