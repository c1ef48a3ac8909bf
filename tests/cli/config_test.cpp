#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using Json = nlohmann::json;

class ConfigTest : public CliTest {
 protected:
  std::vector<std::string> presets() const {
    const Json list = Json::parse(titan({"plugin", "list", "--json"}).run().out);
    std::vector<std::string> names;
    for (const Json& plugin : list.at("plugins")) {
      if (plugin.at("name") != "llama3") continue;
      for (const Json& preset : plugin.at("presets")) names.push_back(preset.at("name"));
    }
    return names;
  }

  /// The lines of a printed configuration without comments.
  static std::string values(const std::string& toml) {
    std::string values;
    std::istringstream lines(toml);
    for (std::string line; std::getline(lines, line);) {
      const std::string kept = line.substr(0, line.find(" #"));
      if (!kept.starts_with('#')) values += kept.substr(0, kept.find_last_not_of(' ') + 1) + '\n';
    }
    return values;
  }
};

TEST_F(ConfigTest, EveryPresetLoadsBack) {
  const std::vector<std::string> names = presets();
  EXPECT_THAT(names, testing::IsSupersetOf({"llama3_debugmodel", "llama3_1b", "llama3_3b", "llama3_8b", "llama3_70b",
                                            "llama3_405b", "llama3_parity"}));
  for (const std::string& name : names) {
    const Outcome first = titan({"config", "--module", "llama3", "--config", name}).run();
    ASSERT_THAT(first, ExitsWith(0)) << name;
    const Outcome second = titan({"config", "--config", folder_.write("again.toml", first.out)}).run();
    ASSERT_THAT(second, ExitsWith(0)) << name;
    EXPECT_EQ(values(second.out), values(first.out)) << name;
  }
}

TEST_F(ConfigTest, OverridesAndOddValuesLoadBack) {
  const Outcome first =
      titan({"config", "--module", "llama3", "--config", "llama3_debugmodel", "--dump_folder=a \"b\" \\ \xC3\xA9\t#c",
             "--optimizer.lr=3.0000000000000004e-05", "--training.steps=9223372036854775807", "--debug.seed=None",
             R"(--optimizer.param_groups=[{"pattern": ".*norm.*", "optimizer_kwargs": {"weight_decay": 0.0}}])"})
          .run();
  ASSERT_THAT(first, ExitsWith(0));
  const Outcome second = titan({"config", "--config", folder_.write("again.toml", first.out)}).run();
  ASSERT_THAT(second, ExitsWith(0));
  EXPECT_EQ(values(second.out), values(first.out));
  EXPECT_THAT(second, Prints("3.0000000000000004e-05"));
  EXPECT_THAT(second, Prints("9223372036854775807"));
}

TEST_F(ConfigTest, EveryValueHasItsOrigin) {
  const Outcome outcome =
      titan({"config", "--module", "llama3", "--config", "llama3_debugmodel", "--training.steps=7"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("\nsteps *= *7 *# .*command line"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("\ndim *= *256 *# .*preset llama3_debugmodel"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("# .*default"));
}

TEST_F(ConfigTest, InputsThatAreNotHereAreWarnings) {
  const Outcome outcome = titan({"config", "--module", "llama3", "--config", "llama3_debugmodel",
                                 "--hf_assets_path=nowhere", "--dataloader.dataset_path=" + source("tests").string()})
                              .run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("hf_assets_path = nowhere"));
  EXPECT_THAT(outcome, testing::Not(Says("dataset_path")));
}

TEST_F(ConfigTest, WritesNothing) {
  ASSERT_THAT(titan({"config"}).args(tiny_model()).run(), ExitsWith(0));
  EXPECT_FALSE(std::filesystem::exists(dump_folder()));
}

TEST_F(ConfigTest, TheSchemaIsJson) {
  const Outcome outcome = titan({"config", "--schema"}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_TRUE(Json::accept(outcome.out));
  EXPECT_THAT(outcome, Prints("log_freq"));
}

}  // namespace
}  // namespace titan::cli
