#include "core/plugin/instance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/base/error.hpp"
#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::HasSubstr;

struct Quiet : testing::Silent {
  static constexpr std::string_view kName = "quiet";
};

struct State {
  std::uint32_t rank;
  bool alive = true;
};

titan_plugin_info counting_info(int& alive) {
  static int* count = nullptr;
  count = &alive;
  titan_plugin_info info = *testing::FakePlugin<Quiet>::query();
  info.init = [](const titan_host* host, void** ctx) -> titan_error* {
    ++*count;
    *ctx = new State{host->rank, true};
    return nullptr;
  };
  info.get_interface = [](void* ctx, titan_string id) -> const void* {
    return view(id) == "fake.rank/1" ? &static_cast<State*>(ctx)->rank : nullptr;
  };
  info.shutdown = [](void* ctx) {
    --*count;
    delete static_cast<State*>(ctx);
  };
  return info;
}

TEST(Instance, LivesFromInitToShutdown) {
  int alive = 0;
  const titan_plugin_info info = counting_info(alive);
  {
    const Instance first(info, "quiet", HostServices{nullptr, nullptr, 0, 2});
    const Instance second(info, "quiet", HostServices{nullptr, nullptr, 1, 2});
    EXPECT_EQ(alive, 2);
    EXPECT_EQ(*first.interface<std::uint32_t>("fake.rank/1").table, 0U);
    EXPECT_EQ(*second.interface<std::uint32_t>("fake.rank/1").table, 1U);
    EXPECT_EQ(second.interface<std::uint32_t>("fake.rank/1").plugin, "quiet");
    EXPECT_EQ(first.get_interface("fake.rank/2"), nullptr);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Instance, ReportsWhatInitReports) {
  titan_plugin_info info = *testing::FakePlugin<Quiet>::query();
  info.init = [](const titan_host* host, void**) {
    return host->error_new(host, TITAN_ERROR_CONFIG, borrow("fake.count is odd"));
  };
  info.shutdown = [](void*) { ADD_FAILURE() << "shutdown after a failed init"; };
  try {
    const Instance instance(info, "quiet", HostServices{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::config);
    EXPECT_STREQ(error.what(), "[quiet] init: fake.count is odd");
  }
}

TEST(Instance, ContainsExceptions) {
  titan_plugin_info info = *testing::FakePlugin<Quiet>::query();
  info.init = [](const titan_host*, void**) -> titan_error* { throw std::runtime_error("boom"); };
  try {
    const Instance instance(info, "quiet", HostServices{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::internal);
    EXPECT_THAT(error.what(), HasSubstr("[quiet] init: a C++ exception crossed the plugin boundary: boom"));
  }
}

TEST(Instance, AShutdownThatThrowsDoesNotStopTheProgram) {
  titan_plugin_info info = *testing::FakePlugin<Quiet>::query();
  info.shutdown = [](void*) { throw std::runtime_error("late"); };
  ::testing::internal::CaptureStderr();
  { const Instance instance(info, "quiet", HostServices{}); }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("shutdown: a C++ exception"));
}

}  // namespace
}  // namespace titan::plugin
