#include "core/config/toml_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/format.hpp"
#include "tests/unit/base/thrown.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

class TomlValuesTest : public ::testing::Test {
 protected:
  std::vector<Assignment> read(const std::string& text, const std::string& module = "llama3") {
    return assignments_from_toml(read_toml(text, "run.toml"), "run.toml", registry_, module, problems_);
  }

  /// The only assignment of a text, as "name=value from origin".
  std::string single(const std::string& text) {
    const auto assignments = read(text);
    problems_.throw_if_any();
    const Assignment& first = assignments.at(0);
    return first.option->name + "=" + to_text(first.value) + " from " + first.origin;
  }

  std::string complaint(const std::string& text, const std::string& module = "llama3") {
    problems_ = Problems();
    static_cast<void>(read(text, module));
    return test::thrown_by([&] { return problems_.throw_if_any(), 0; }).message;
  }

  const Registry registry_ = test::sample_registry();
  Problems problems_;
};

TEST_F(TomlValuesTest, SectionsInEveryForm) {
  for (const char* text :
       {"[training]\nsteps = 7", "\ntraining.steps = 7", "\ntraining = {steps = 7}", "[training]\n\"steps\" = 7"}) {
    EXPECT_EQ(single(text), "training.steps=7 from run.toml:2") << text;
  }
  EXPECT_EQ(single("dump_folder = 'x'"), "dump_folder=x from run.toml:1");
}

TEST_F(TomlValuesTest, ValuesOfEveryType) {
  EXPECT_EQ(single("sample.enable_x = true"), "sample.enable_x=true from run.toml:1");
  EXPECT_EQ(single("sample.share = 0.25"), "sample.share=0.25 from run.toml:1");
  EXPECT_EQ(single("optimizer.lr = 1"), "optimizer.lr=1 from run.toml:1") << "an integer serves as a float";
  EXPECT_EQ(single("sample.items = ['b', \"c,d\"]"), "sample.items=[\"b\",\"c,d\"] from run.toml:1");
  EXPECT_EQ(single("sample.items = []"), "sample.items= from run.toml:1");
  EXPECT_EQ(single("sample.groups = [{a = 1}]"), "sample.groups=[{\"a\":1}] from run.toml:1");
  EXPECT_EQ(single("[[sample.groups]]\na = 1\n[sample.groups.b]\nc = 2.5\n[[sample.groups]]\n"),
            "sample.groups=[{\"a\":1,\"b\":{\"c\":2.5}},{}] from run.toml:1");
}

TEST_F(TomlValuesTest, NoneIsATextWhereItIsAllowed) {
  EXPECT_EQ(single("sample.maybe_count = 'None'"), "sample.maybe_count=None from run.toml:1");
  EXPECT_EQ(single("sample.maybe_name = 'None'"), "sample.maybe_name=None from run.toml:1");
  EXPECT_EQ(single("sample.maybe_items = 'None'"), "sample.maybe_items=None from run.toml:1");
  EXPECT_EQ(single("sample.name = 'None'"), "sample.name=None from run.toml:1");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read("sample.maybe_count = 'None'")[0].value));
  EXPECT_TRUE(std::holds_alternative<std::string>(read("sample.name = 'None'")[0].value));
  EXPECT_EQ(complaint("sample.count = 'None'"),
            "[config] run.toml:1:16: sample.count: expected an integer of at least -5 and at most 5, got \"None\"");
}

TEST_F(TomlValuesTest, WrongTypesNameOptionPlaceAndBoth) {
  EXPECT_EQ(complaint("[training]\n  steps = 10.0"),
            "[config] run.toml:2:11: training.steps: expected an integer of at least 1, got the float 10");
  EXPECT_THAT(complaint("sample.enable_x = 'true'"), HasSubstr("expected true or false, got \"true\""));
  EXPECT_THAT(complaint("sample.enable_x = 1"), HasSubstr("expected true or false, got 1"));
  EXPECT_THAT(complaint("optimizer.lr = '1'"), HasSubstr("expected a finite number of at least 0, got \"1\""));
  EXPECT_THAT(complaint("optimizer.lr = nan"), HasSubstr("expected a finite number"));
  EXPECT_THAT(complaint("sample.name = 2026-01-31"), HasSubstr("expected a text, got a date or time"));
  EXPECT_THAT(complaint("sample.name = {}"), HasSubstr("expected a text, got a table"));
  EXPECT_THAT(complaint("sample.items = 'a'"), HasSubstr("expected a list of texts, got \"a\""));
  EXPECT_THAT(complaint("sample.items = ['a', 1]"), HasSubstr("expected a list of texts, got 1"));
  EXPECT_THAT(complaint("sample.groups = [1]"), HasSubstr("expected a list of tables"));
  EXPECT_THAT(complaint("[sample.groups]\na = 1"), HasSubstr("expected a list of tables"));
  EXPECT_THAT(complaint("sample.groups = [{a = {b = inf}}]"), HasSubstr("got the float inf"));
  EXPECT_THAT(complaint("sample.groups = [{a = 2026-01-31}]"), HasSubstr("got a date or time"));
  EXPECT_THAT(complaint("sample.file = ''"), HasSubstr("expected a path or None, got an empty text"));
  EXPECT_THAT(complaint("sample.name = 'a\\u0000'"), ::testing::Not(HasSubstr("NUL"))) << "no escapes in single quotes";
  EXPECT_THAT(complaint("sample.name = \"a\\u0000\""), HasSubstr("NUL character"));
}

TEST_F(TomlValuesTest, RangesAndChoices) {
  EXPECT_EQ(complaint("training.steps = 0"),
            "[config] run.toml:1:18: training.steps: expected an integer of at least 1, got 0");
  EXPECT_THAT(complaint("sample.mode = 'fas'"),
              HasSubstr("expected one of fast, slow, got \"fas\"; did you mean fast?"));
}

TEST_F(TomlValuesTest, UnknownKeysNameTheNearest) {
  EXPECT_EQ(complaint("[training]\n  stepz = 7"),
            "[config] run.toml:2:3: training.stepz: unknown option; did you mean training.steps?");
  EXPECT_EQ(complaint("dump-folder = 'x'"),
            "[config] run.toml:1:1: dump-folder: unknown option; did you mean dump_folder?");
  EXPECT_THAT(complaint("[training.inner]\nx = 1"), HasSubstr("run.toml:1:1: [training.inner]: unknown section"));
}

TEST_F(TomlValuesTest, UnknownSectionsAreReportedOnce) {
  EXPECT_EQ(complaint("[trainning]\nsteps = 7\nx = 1"),
            "[config] run.toml:1:1: [trainning]: unknown section; did you mean [training]?");
  EXPECT_EQ(complaint("[absent_plugin]\nx = 1"),
            "[config] run.toml:1:1: [absent_plugin]: unknown section: no loaded plugin declares it");
}

TEST_F(TomlValuesTest, SectionsAreTables) {
  EXPECT_EQ(complaint("training = 7"), "[config] run.toml:1:1: training: expected a section [training], got 7");
  EXPECT_THAT(complaint("[[training]]\nsteps = 7"), HasSubstr("expected a section [training], got an array"));
}

TEST_F(TomlValuesTest, QuotedKeysAreOneKey) {
  EXPECT_EQ(complaint("\"training.steps\" = 7"),
            "[config] run.toml:1:1: training.steps: unknown option; did you mean training.steps?");
}

TEST_F(TomlValuesTest, ModelOptionsAreTheModules) {
  EXPECT_EQ(single("model.dim = 7"), "model.dim=7 from run.toml:1");
  EXPECT_EQ(complaint("model.dim = true", "mixtral"), "");
  EXPECT_THAT(complaint("model.n_experts = 7"), HasSubstr("unknown option; it belongs to module mixtral"));
  EXPECT_THAT(complaint("model.n_experts = 7", ""), HasSubstr("[model]: unknown section"));
  EXPECT_EQ(complaint("model.n_experts = 7", "nosuch"), "") << "the module itself is the problem";
}

TEST_F(TomlValuesTest, AllProblemsAtOnceInOrder) {
  EXPECT_EQ(complaint("[training]\nsteps = 0\nstepz = 1\n[metrics]\nlog_freq = 'x'\n"),
            "[config] 3 problems:\n"
            "  run.toml:2:9: training.steps: expected an integer of at least 1, got 0\n"
            "  run.toml:3:1: training.stepz: unknown option; did you mean training.steps?\n"
            "  run.toml:5:12: metrics.log_freq: expected an integer of at least 1, got \"x\"");
}

TEST_F(TomlValuesTest, FloodsOfUnknownKeysAreCounted) {
  std::string text = "[training]\n";
  for (int i = 0; i < 3000; ++i) text += "wrong_key_" + std::to_string(i) + " = 1\n";
  EXPECT_THAT(complaint(text), HasSubstr("3000 problems:"));
}

TEST_F(TomlValuesTest, HeadIsLeftToOthers) { EXPECT_EQ(complaint("module = 'x'\nconfig = 'y'"), ""); }

TEST_F(TomlValuesTest, NamesAreSafeToPrint) {
  const std::string message = complaint("\"a\\u001b[2J\" = 1\n[\"b\\n\"]\n");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_THAT(message, HasSubstr("a\\x1b[2J: unknown option"));
  EXPECT_THAT(message, HasSubstr("[b\\n]: unknown section"));
}

}  // namespace
}  // namespace titan::config
