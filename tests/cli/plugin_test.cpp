#include <nlohmann/json.hpp>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

/// Plugin files that cannot be used: one clear message, never a signal.
class PluginTest : public CliTest {
 protected:
  Outcome config_with(const fs::path& plugin) const { return tiny_config().args({"--plugin", plugin}).run(); }
  Command tiny_config() const { return titan({"config"}).args(tiny_model()); }

  /// A copy of the mischief plugin, cut to `size` bytes when that is less than it has.
  fs::path copy(const std::string& name, std::size_t size) const {
    return folder_.write(name, read(test_plugin("mischief")).substr(0, size));
  }
};

TEST_F(PluginTest, AMissingFile) {
  const Outcome outcome = config_with(folder_ / "absent.so");
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("absent.so"));
}

TEST_F(PluginTest, APathThatCannotBeLookedUp) {
  EXPECT_THAT(titan({"plugin", "check", std::string(300, 'x')}).run(), ExitsWith(66));
}

TEST_F(PluginTest, AFolder) {
  fs::create_directory(folder_ / "folder.so");
  EXPECT_THAT(config_with(folder_ / "folder.so"), testing::AnyOf(ExitsWith(66), ExitsWith(76)));
}

TEST_F(PluginTest, AText) {
  const Outcome outcome = config_with(folder_.write("text.so", "hello\n"));
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_THAT(outcome, Says("text.so"));
}

TEST_F(PluginTest, ATruncatedFile) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, std::size_t{64}, std::size_t{3000}, std::size_t{12000}}) {
    const Outcome outcome = config_with(copy("cut.so", size));
    EXPECT_THAT(outcome, ExitsWith(76)) << size;
    EXPECT_THAT(outcome, Says("cut.so")) << size;
  }
}

TEST_F(PluginTest, AForeignArchitecture) {
  std::string content = read(test_plugin("mischief"));
  content.at(18) = static_cast<char>(0xB7);  // e_machine: AArch64
  const Outcome outcome = config_with(folder_.write("foreign.so", content));
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_THAT(outcome, Says("foreign.so"));
}

TEST_F(PluginTest, AnotherVersion) {
  // The ELF note: name size 6, text size 16, type 1, "titan", then major, minor, minor needed.
  const std::string note("\x06\0\0\0\x10\0\0\0\x01\0\0\0titan\0\0\0", 20);
  std::string content = read(test_plugin("mischief"));
  const std::size_t at = content.find(note);
  ASSERT_NE(at, std::string::npos);
  content.at(at + note.size()) = 9;
  const Outcome outcome = config_with(folder_.write("other.so", content));
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_THAT(outcome, Says("other.so"));
  EXPECT_THAT(outcome, Says("9."));
}

TEST_F(PluginTest, ALibraryThatIsNoPlugin) {
  const Outcome outcome = config_with(test_plugin("no_plugin"));
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_THAT(outcome, Says("no_plugin.so"));
}

TEST_F(PluginTest, ABrokenOneNobodyAskedForIsAWarning) {
  folder_.write("plugins/broken.titan.json", "{");
  const Outcome outcome = tiny_config().env("TITAN_PLUGIN_PATH", folder_ / "plugins").run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("broken"));
}

TEST_F(PluginTest, ListNamesPluginsAndInterfaces) {
  const Outcome outcome = titan({"plugin", "list"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  for (const char* text : {"llama3", "observability", "titan.model/1", "titan.observer/1"}) {
    EXPECT_THAT(outcome, Prints(text));
  }
}

TEST_F(PluginTest, ListIsJsonWithPresetsOnRequest) {
  const Outcome outcome = titan({"plugin", "list", "--json"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  ASSERT_TRUE(nlohmann::json::accept(outcome.out)) << outcome.text();
  EXPECT_THAT(outcome, Prints("llama3_debugmodel"));
}

TEST_F(PluginTest, CheckPassesAGoodPlugin) {
  EXPECT_THAT(titan({"plugin", "check", test_plugin("mischief")}).run(), ExitsWith(0));
}

TEST_F(PluginTest, CheckFailsABadPlugin) {
  const Outcome outcome = titan({"plugin", "check", copy("cut.so", 3000)}).run();
  EXPECT_THAT(outcome, ExitsWith(76));
  EXPECT_NE(outcome.out + outcome.err, "");
}

TEST_F(PluginTest, CheckWithoutAFileIsAUsageError) { EXPECT_THAT(titan({"plugin", "check"}).run(), ExitsWith(64)); }

TEST_F(PluginTest, AnUnknownActionIsAUsageError) {
  const Outcome outcome = titan({"plugin", "lsit"}).run();
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("list"));
}

}  // namespace
}  // namespace titan::cli
