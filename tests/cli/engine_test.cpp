#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

/// An engine that is not there or does not fit, beside a copy of the program.
class EngineTest : public CliTest {
 protected:
  Outcome train_with(const std::string& engine) const {
    if (!engine.empty()) folder_.write("lib/libtitan_engine.so", engine);
    fs::create_directory(folder_ / "bin");
    fs::copy_file(titan_program(), folder_ / "bin/titan");
    const fs::path plugins = titan_program().parent_path().parent_path() / "lib/titan/plugins";
    return Command(folder_ / "bin/titan", folder_).env("TITAN_PLUGIN_PATH", plugins).args(tiny_model()).run();
  }
};

TEST_F(EngineTest, AMissingOneIsNamedWithTheRemedy) {
  const Outcome outcome = train_with("");
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("lib/libtitan_engine.so"));
  EXPECT_THAT(outcome, Says("build"));
}

TEST_F(EngineTest, OneThatCannotBeOpenedHasItsReason) {
  const Outcome outcome = train_with("no library at all");
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("lib/libtitan_engine.so"));
}

TEST_F(EngineTest, AnotherLibraryIsRefused) {
  const Outcome outcome = train_with(read(test_plugin("no_plugin")));
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_THAT(outcome, Says("titan_engine_query_v1"));
}

TEST_F(EngineTest, OneOfAnotherBuildIsRefused) {
  const Outcome outcome = train_with(read(test_plugin("other_engine")));
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_THAT(outcome, Says("another build"));
}

}  // namespace
}  // namespace titan::cli
