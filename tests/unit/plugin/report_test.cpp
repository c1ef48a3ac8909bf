#include "core/plugin/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Watcher {
  static constexpr std::string_view kName = "watcher";
  static titan_error* describe(const titan_describe_sink* sink) {
    return sink->provides(sink->ctx, borrow("titan.observer/1"));
  }
};

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    libraries_.add("watcher.so", &testing::FakePlugin<Watcher>::query);
    search_.files = {folder_.write("watcher.so", "bytes")};
    search_.folders = {folder_.path()};
  }

  PluginRegistry registry() {
    ::testing::internal::CaptureStderr();
    PluginRegistry out(search_, libraries_);
    ::testing::internal::GetCapturedStderr();
    return out;
  }

  const testing::TemporaryFolder folder_;
  testing::FakeLibraries libraries_;
  Search search_;
};

TEST_F(ReportTest, ListsOneLineAPlugin) {
  const std::string text = list_text(registry());
  EXPECT_THAT(text, ContainsRegex("NAME +VERSION +TIER +ABI +PROVIDES +PRESETS +FILE\n"));
  EXPECT_THAT(text, ContainsRegex("watcher +1.2.3 +stable +0.5 +titan.observer/1 +0 +/.*/watcher.so\n"));
}

TEST_F(ReportTest, ListsBrokenPluginsWithTheirReason) {
  folder_.write("broken.titan.json", "{");
  EXPECT_THAT(list_text(registry()), ContainsRegex("broken: .*cannot load broken from .*broken.titan.json: "));
}

TEST_F(ReportTest, SaysWhenThereIsNothing) {
  search_ = {};
  EXPECT_EQ(list_text(registry()), "no plugins found\n");
}

TEST_F(ReportTest, WritesJson) {
  folder_.write("broken.titan.json", "{");
  const auto json = nlohmann::json::parse(list_json(registry()));
  ASSERT_EQ(json["plugins"].size(), 1U);
  EXPECT_EQ(json["plugins"][0]["name"], "watcher");
  EXPECT_EQ(json["plugins"][0]["library"], (folder_.path() / "watcher.so").string());
  EXPECT_EQ(json["plugins"][0]["named"], true);
  EXPECT_EQ(json["broken"][0]["name"], "broken");
}

}  // namespace
}  // namespace titan::plugin
