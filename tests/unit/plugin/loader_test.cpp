#include "core/plugin/loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using testing::FakeLibraries;
using testing::FakePlugin;
using ::testing::HasSubstr;

struct Quiet : testing::Silent {
  static constexpr std::string_view kName = "quiet";
};

const titan_plugin_info* query_throws() { throw std::runtime_error("boom"); }
const titan_plugin_info* query_returns_nothing() { return nullptr; }

std::string refusal(const char* file, FakeLibraries& libraries) {
  try {
    open_and_describe(file, libraries);
    return {};
  } catch (const LoadProblem& problem) {
    return concat(static_cast<int>(problem.exit()), ": ", problem.what());
  }
}

TEST(Loader, OpensAndDescribes) {
  FakeLibraries libraries;
  libraries.add("quiet.so", &FakePlugin<Quiet>::query);
  EXPECT_EQ(open_and_describe("/any/where/quiet.so", libraries).name, "quiet");
  EXPECT_EQ(open_plugin("quiet.so", libraries).info, FakePlugin<Quiet>::query());
}

TEST(Loader, ContainsWhatQueryDoes) {
  FakeLibraries libraries;
  libraries.add("throws.so", &query_throws);
  libraries.add("nothing.so", &query_returns_nothing);
  EXPECT_EQ(refusal("throws.so", libraries),
            "70: titan_plugin_query_v1: a C++ exception crossed the plugin boundary: boom");
  EXPECT_THAT(refusal("nothing.so", libraries), HasSubstr("76: titan_plugin_query_v1 returned NULL"));
}

TEST(Loader, PassesOnWhatTheSystemSays) {
  FakeLibraries libraries;
  EXPECT_EQ(refusal("unknown.so", libraries), "76: nobody knows this file");
}

TEST(Loader, TheMessageNamesPluginFileReasonAndRemedy) {
  const Error error = load_error("llama3", "/p/llama3.so", LoadProblem(Exit::abi, "it is too old", "rebuild it"));
  EXPECT_STREQ(error.what(), "[plugin] cannot load llama3 from /p/llama3.so: it is too old; rebuild it");
  EXPECT_EQ(error.exit(), Exit::abi);
}

}  // namespace
}  // namespace titan::plugin
