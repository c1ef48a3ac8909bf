#include "core/base/shortage.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/log.hpp"

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

TEST(Shortage, IsNotToldByAThreadThatIsSilent) {
  set_shortage_listener([](std::uint64_t bytes) { told = bytes; });
  told = 0;
  {
    const ShortageSilence outer;
    { const ShortageSilence inner; }
    tell_of_shortage(7);
    EXPECT_EQ(told, 0U);
    std::thread([] { tell_of_shortage(8); }).join();
    EXPECT_EQ(told, 8U) << "another thread may tell";
  }
  tell_of_shortage(9);
  EXPECT_EQ(told, 9U);
  set_log_sink([](LogLevel, std::string_view, std::string_view) {
    told = 0;
    tell_of_shortage(1);
  });
  log(LogLevel::info, "test", "a sink that finds no memory");
  EXPECT_EQ(told, 0U) << "the report would wait for the sink's lock";
  set_log_sink(nullptr);
  set_shortage_listener(nullptr);
}

}  // namespace
}  // namespace titan
