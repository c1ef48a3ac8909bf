#include "plugins/observability/profiler/profiler.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::observability {
namespace {

class ProfilerTest : public testing::Test {
 protected:
  ProfilerTest() {
    host_.declare("dump_folder", TITAN_OPTION_PATH, "outputs");
    host_.declare("training.device", TITAN_OPTION_STRING, "auto");
    host_.declare("profiler.enable_profiling", TITAN_OPTION_BOOL, "true");
    host_.declare("profiler.save_traces_folder", TITAN_OPTION_PATH, "traces");
    for (const char* name : {"profile_freq", "profiler_active", "profiler_warmup", "profiler_repeat",
                             "profiler_skip_first", "profiler_skip_first_wait"}) {
      host_.declare(std::string("profiler.") + name, TITAN_OPTION_INT, "1");
    }
    host_.set("profiler.profile_freq", "2");
  }
  ToolPointer make() const { return Profiler::make(sdk::Host(host_.table())); }

  test::FakeHost host_;
};

TEST_F(ProfilerTest, IsOffWhereItIsNotAskedFor) {
  EXPECT_NE(make(), nullptr);
  host_.set("profiler.enable_profiling", "false");
  EXPECT_EQ(make(), nullptr);
}

TEST_F(ProfilerTest, AProcessHasOne) {
  ToolPointer first = make();
  EXPECT_THROW(make(), sdk::ConfigError) << "two ranks that are threads of this process";
  first.reset();
  EXPECT_NE(make(), nullptr);
}

TEST_F(ProfilerTest, AnImpossibleScheduleClaimsNothing) {
  host_.set("profiler.profile_freq", "1");
  EXPECT_THROW(make(), sdk::ConfigError);
  host_.set("profiler.profile_freq", "2");
  EXPECT_NE(make(), nullptr);
}

}  // namespace
}  // namespace titan::observability
