#include "core/config/resolver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "core/config/option_builder.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class ResolverTest : public ::testing::Test {
 protected:
  Resolution resolve(const Words& words, const Translate& translate = {}) const {
    return config::resolve(registry_, *registry_.find_verb("config"), words, translate);
  }

  /// A value and its origin.
  std::string look(const Words& words, const std::string& name) const {
    const Config config = resolve(words).config;
    return std::to_string(config.integer(name)) + " from " + config.origin(name);
  }

  test::Thrown refusal(const Words& words) const {
    return test::thrown_by([&] { return resolve(words), 0; });
  }

  std::string file(const std::string& name, const std::string& content) const {
    return folder_.write(name, content).string();
  }

  Registry registry_ = test::sample_registry();
  test::TemporaryFolder folder_;
};

TEST_F(ResolverTest, EachSourceLaysOverTheOneBefore) {
  const std::string base = file("base.toml", "config = 'llama3_8b'\n[training]\nsteps = 4\nmax_norm = 4.0\n");
  const std::string top = file("top.toml", "module = 'llama3'\nconfig = 'base.toml'\n\n[training]\nsteps = 5\n");
  EXPECT_EQ(look({}, "training.steps"), "10000 from default");
  EXPECT_EQ(look({"--module=llama3", "--config=llama3_8b"}, "training.steps"), "3000 from preset llama3_base");
  EXPECT_EQ(look({"--module=llama3", "--config=llama3_8b"}, "model.dim"), "4096 from preset llama3_8b");
  EXPECT_EQ(look({"--module=llama3", "--config", base}, "training.steps"), "4 from " + base + ":3");
  EXPECT_EQ(look({"--config", top}, "training.steps"), "5 from " + top + ":5");
  EXPECT_EQ(look({"--config", top}, "model.dim"), "4096 from preset llama3_8b");
  EXPECT_EQ(look({"--config", top, "--training.steps", "6"}, "training.steps"), "6 from command line");
  EXPECT_EQ(resolve({"--config", top}).config.origin("training.max_norm"), base + ":4");
}

TEST_F(ResolverTest, LastOfRepeatedOptionsWins) {
  EXPECT_EQ(look({"--training.steps=1", "--training.steps", "2"}, "training.steps"), "2 from command line");
  const Config off = resolve({"--sample.enable_x", "--sample.no_enable_x"}).config;
  EXPECT_FALSE(off.boolean("sample.enable_x"));
  const Config on = resolve({"--sample.enable_x=false", "--sample.no-enable-x", "--sample.enable_x=True"}).config;
  EXPECT_TRUE(on.boolean("sample.enable_x"));
  EXPECT_EQ(resolve({"--module=llama3", "--config=nosuch", "--config=llama3_8b"}).config.config_name(), "llama3_8b");
}

TEST_F(ResolverTest, ValueThatIsOverwrittenIsCheckedAllTheSame) {
  EXPECT_THAT(refusal({"--training.steps=x", "--training.steps", "2"}).message, HasSubstr("got \"x\""));
}

TEST_F(ResolverTest, CommandLineSwitchesOffWhatAFileSwitchedOn) {
  const std::string path = file("x.toml", "sample.enable_x = true\ndebug.seed = 5\n");
  EXPECT_TRUE(resolve({"--config", path}).config.boolean("sample.enable_x"));
  EXPECT_FALSE(resolve({"--config", path, "--sample.no_enable_x"}).config.boolean("sample.enable_x"));
  EXPECT_EQ(resolve({"--config", path, "--debug.seed", "None"}).config.optional_integer("debug.seed"), std::nullopt);
}

TEST_F(ResolverTest, ConfigKnowsItsNames) {
  const Resolution resolution = resolve({"--module", "llama3", "--config", "llama3_debugmodel", "--schema"});
  EXPECT_EQ(resolution.config.module(), "llama3");
  EXPECT_EQ(resolution.config.config_name(), "llama3_debugmodel");
  EXPECT_TRUE(resolution.command_line.has("schema"));
  EXPECT_EQ(resolution.config.integer("metrics.log_freq"), 1);
  EXPECT_TRUE(resolution.warnings.empty());
}

TEST_F(ResolverTest, ModelOptionsOfOneModuleOnly) {
  EXPECT_EQ(resolve({"--module=llama3"}).config.entries().count("model.n_experts"), 0U);
  EXPECT_EQ(resolve({}).config.entries().count("model.dim"), 0U);
  EXPECT_FALSE(resolve({"--module=mixtral", "--config=mixtral_8x7b"}).config.boolean("model.dim"));
  EXPECT_THAT(refusal({"--module=llama3", "--model.n_experts=2"}).message, HasSubstr("belongs to module mixtral"));
}

TEST_F(ResolverTest, UnknownModule) {
  const test::Thrown thrown = refusal({"--module", "llama", "--config", "x", "--model.dim", "7"});
  EXPECT_EQ(thrown.exit, Exit::config);
  EXPECT_EQ(thrown.message,
            "[config] no model plugin of that name: \"llama\"; did you mean llama3? There are: llama3, mixtral");
}

TEST_F(ResolverTest, UnknownPresetListsPresets) {
  const test::Thrown thrown = refusal({"--module", "llama3", "--config", "llama3_8"});
  EXPECT_EQ(thrown.exit, Exit::config);
  EXPECT_EQ(thrown.message,
            "[config] --config: module llama3 has no preset \"llama3_8\"; did you mean llama3_8b? There are: "
            "llama3_8b, llama3_debugmodel, llama3_base");
  const std::string path = file("x.toml", "module = 'llama3'\nconfig = 'zzz'");
  EXPECT_THAT(refusal({"--config", path}).message,
              HasSubstr("x.toml:2:1: config: module llama3 has no preset \"zzz\""));
}

TEST_F(ResolverTest, ConfigurationFilesEndInToml) {
  EXPECT_THAT(refusal({"--module", "llama3", "--config", "./runs/a.yaml"}).message,
              HasSubstr("(a file must end in .toml or .json)"));
}

TEST_F(ResolverTest, PresetNeedsAModule) {
  const test::Thrown thrown = refusal({"--config", "llama3_8b"});
  EXPECT_EQ(thrown.exit, Exit::config);
  EXPECT_EQ(thrown.message,
            "[config] --config: preset needs a module: llama3_8b; name one with --module: llama3, mixtral");
}

TEST_F(ResolverTest, PresetsMayNameOptionsOfAbsentPlugins) {
  registry_.add(Preset{"profiled", "", "", {{"profiler.enable", "true"}}, "llama3"});
  const Resolution resolution = resolve({"--module=llama3", "--config=profiled"});
  ASSERT_EQ(resolution.warnings.size(), 1U);
  EXPECT_EQ(resolution.warnings[0], "preset profiled sets profiler.enable, which no loaded plugin declares: ignored");
}

TEST_F(ResolverTest, BrokenPresetsAreThePluginsFault) {
  registry_.add(Preset{"typo", "", "", {{"training.stepz", "1"}}, "llama3"});
  EXPECT_EQ(refusal({"--module=llama3", "--config=typo"}).exit, Exit::internal);
  registry_.add(Preset{"circle", "", "circle", {}, "llama3"});
  EXPECT_EQ(refusal({"--module=llama3", "--config=circle"}).exit, Exit::internal);
}

TEST_F(ResolverTest, ValuesExit78FlagsExit64) {
  EXPECT_EQ(refusal({"--training.steps", "1e-3"}).exit, Exit::config);
  EXPECT_EQ(refusal({"--training.steps", "1e-3"}).message,
            "[config] --training.steps: expected an integer of at least 1, got \"1e-3\"");
  EXPECT_EQ(refusal({"--training.dtype", "float31"}).exit, Exit::config);
  EXPECT_EQ(refusal({"--debug.deterministic=maybe"}).exit, Exit::config);
  EXPECT_EQ(refusal({"--training.stepz", "1"}).exit, Exit::usage);
  EXPECT_EQ(refusal({"--training.steps"}).exit, Exit::usage);
  EXPECT_EQ(refusal({"--training.steps", "0", "stray"}).exit, Exit::usage) << "both: the flag counts";
}

TEST_F(ResolverTest, AllProblemsOfAllSourcesAtOnce) {
  const std::string path = file("x.toml", "module = 'llama3'\n[training]\nsteps = 0\nstepz = 1\n");
  const test::Thrown thrown = refusal({"--config", path, "--training.max_norm=x", "--nothing"});
  EXPECT_EQ(thrown.exit, Exit::usage);
  EXPECT_EQ(thrown.message, "[config] 4 problems:\n  " + path +
                                ":3:9: training.steps: expected an integer of at least 1, got 0\n  " + path +
                                ":4:1: training.stepz: unknown option; did you mean training.steps?\n"
                                "  --nothing: unknown option\n"
                                "  --training.max_norm: expected a finite number above 0, got \"x\"");
}

TEST_F(ResolverTest, BrokenFileDoesNotHideOtherProblems) {
  const test::Thrown thrown = refusal({"--config", file("x.toml", "a = "), "--training.steps", "0"});
  EXPECT_EQ(thrown.exit, Exit::config);
  EXPECT_THAT(thrown.message, HasSubstr("2 problems:"));
  EXPECT_THAT(thrown.message, HasSubstr("x.toml:1:5: invalid TOML"));
}

TEST_F(ResolverTest, UnreadableFilesAreNoInput) {
  EXPECT_EQ(refusal({"--config", (folder_ / "missing.toml").string()}).exit, Exit::no_input);
  EXPECT_EQ(refusal({"--config", (folder_ / "missing.json").string()}).exit, Exit::no_input);
}

TEST_F(ResolverTest, HubFilesAreTranslated) {
  const std::string hub = file("config.json", "{\"hidden_size\": 512}");
  const Translate translate = [](const std::string& module, const std::string& text) {
    EXPECT_EQ(module, "llama3");
    EXPECT_EQ(text, "{\"hidden_size\": 512}");
    return std::vector<Preset::Setting>{{"model.dim", "512"}};
  };
  const Config config = resolve({"--module=llama3", "--config", hub}, translate).config;
  EXPECT_EQ(config.integer("model.dim"), 512);
  EXPECT_EQ(config.origin("model.dim"), hub);
  const Config over = resolve({"--module=llama3", "--config", hub, "--model.dim=7"}, translate).config;
  EXPECT_EQ(over.integer("model.dim"), 7);
}

TEST_F(ResolverTest, HubFilesWithWrongContent) {
  const std::string hub = file("config.json", "{}");
  const auto refusal_of = [&](const std::string& name, const std::string& value) {
    const Translate translate = [&](const std::string&, const std::string&) {
      return std::vector<Preset::Setting>{{name, value}};
    };
    return test::thrown_by([&] { return resolve({"--module=llama3", "--config", hub}, translate), 0; });
  };
  EXPECT_EQ(refusal_of("model.dim", "0").exit, Exit::config);
  EXPECT_THAT(refusal_of("model.dim", "0").message, HasSubstr(hub + ": model.dim: expected an integer of at least 1"));
  EXPECT_EQ(refusal_of("model.width", "1").exit, Exit::internal);
  EXPECT_THAT(refusal({"--config", hub}).message, HasSubstr("hub file needs a module"));
}

TEST_F(ResolverTest, SettingsWithoutACommandLine) {
  const Config config =
      resolve_settings(registry_, {{"training.steps", "3"}, {"sample.enable_x", "false"}}, "llama3", "llama3_8b");
  EXPECT_EQ(config.integer("training.steps"), 3);
  EXPECT_EQ(config.integer("model.dim"), 4096);
  EXPECT_THROW(resolve_settings(registry_, {{"training.stepz", "3"}}), UsageError);
}

TEST_F(ResolverTest, UnicodeGoesThrough) {
  EXPECT_EQ(resolve({"--dump_folder", "./läufe/🦙"}).config.string("dump_folder"), "./läufe/🦙");
  const std::string path = file("ünïcode.toml",
                                "\xef\xbb\xbf"
                                "dump_folder = './läufe'\r\n");
  EXPECT_EQ(resolve({"--config", path}).config.string("dump_folder"), "./läufe");
  EXPECT_EQ(refusal({"--dump_folder", "a\xff"}).exit, Exit::config);
}

/// Whatever words come, the answer is a configuration or one of the three errors a user can make.
TEST_F(ResolverTest, RandomWordsNeverCrash) {
  const Words pieces = {"--",
                        "-",
                        "=",
                        "training.steps",
                        "sample.items",
                        "sample.no-enable_x",
                        "7",
                        "-1",
                        "None",
                        "[",
                        "\"",
                        "\xff",
                        "\x1b[2J",
                        ",",
                        "--module",
                        "llama3",
                        "--help",
                        "--schema",
                        ".",
                        "no_",
                        "model.dim",
                        "--config",
                        "llama3_8b",
                        "",
                        "sample.groups",
                        "[{\"a\":1}]",
                        "true",
                        "ü"};
  std::mt19937 random(54321);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    Words words;
    for (std::size_t count = pick(5); count > 0; --count) {
      std::string word = pick(2) == 0 ? "--" : "";
      for (std::size_t parts = 1 + pick(3); parts > 0; --parts) word += pieces[pick(pieces.size())];
      words.push_back(word);
    }
    const test::Thrown thrown = refusal(words);
    if (thrown.exit == Exit::done) ++accepted;
    const bool is_expected = thrown.exit == Exit::done || thrown.exit == Exit::usage || thrown.exit == Exit::config;
    ASSERT_TRUE(is_expected) << thrown.message;
    ASSERT_EQ(thrown.message.find('\x1b'), std::string::npos) << thrown.message;
  }
  EXPECT_GT(accepted, 100U);
}

/// Some hundred options are resolved in a millisecond or two; the bound only keeps seconds away.
TEST_F(ResolverTest, IsQuick) {
  for (int i = 0; i < 300; ++i) registry_.add(integer("many.option_" + std::to_string(i), i, ""));
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 10; ++i) resolve({"--module=llama3", "--config=llama3_8b", "--many.option_7=1"});
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace titan::config
