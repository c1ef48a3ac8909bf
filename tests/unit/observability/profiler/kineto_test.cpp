#include "plugins/observability/profiler/kineto.hpp"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/temporary_folder.hpp"

namespace titan::observability {
namespace {

std::set<std::string> names(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::set<std::string> found;
  const nlohmann::json trace = nlohmann::json::parse(file);
  for (const auto& event : trace["traceEvents"]) found.insert(event["name"]);
  return found;
}

TEST(Kineto, RecordsOneCycleAfterTheOther) {
  const test::TemporaryFolder folder;
  Kineto kineto(/*with_cuda=*/false);
  for (const char* step : {"ProfilerStep#3", "ProfilerStep#6"}) {
    EXPECT_FALSE(kineto.is_prepared());
    kineto.prepare();
    EXPECT_FALSE(kineto.is_recording());
    kineto.start();
    EXPECT_TRUE(kineto.is_recording());
    kineto.name_step(step);
    at::mm(at::ones({2, 2}), at::ones({2, 2}));
    kineto.stop(folder / step);
    const std::set<std::string> found = names(folder / step);
    EXPECT_TRUE(found.contains(step));
    EXPECT_TRUE(found.contains("aten::mm"));
  }
  EXPECT_FALSE(names(folder / "ProfilerStep#6").contains("ProfilerStep#3"));
}

TEST(Kineto, MayBeGivenUpInAnyState) {
  const test::TemporaryFolder folder;
  { Kineto(false).prepare(); }
  {
    Kineto recording(false);
    recording.prepare();
    recording.start();
    recording.name_step("ProfilerStep#1");
  }
  Kineto kineto(false);
  kineto.prepare();
  kineto.start();
  kineto.stop(folder / "trace");
  EXPECT_FALSE(names(folder / "trace").contains("ProfilerStep#1"));
}

}  // namespace
}  // namespace titan::observability
