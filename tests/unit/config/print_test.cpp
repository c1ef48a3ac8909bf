#include "core/config/print.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/resolver.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

class PrintTest : public ::testing::Test {
 protected:
  Config resolve(const Words& words) const {
    return config::resolve(registry_, *registry_.find_verb("config"), words).config;
  }

  /// Prints, loads the print alone, and expects the same values.
  void expect_round_trip(const Words& words) const {
    const Config first = resolve(words);
    const std::string path = folder_.write("out.toml", render_toml(first)).string();
    const Config second = resolve({"--config", path});
    EXPECT_EQ(second.module(), first.module());
    ASSERT_EQ(second.entries().size(), first.entries().size());
    for (const auto& [name, entry] : first.entries()) EXPECT_EQ(second.value(name), entry.value) << name;
    EXPECT_EQ(must_match_hash(second), must_match_hash(first));
  }

  const Registry registry_ = test::sample_registry();
  test::TemporaryFolder folder_;
};

TEST_F(PrintTest, LinesShowValueAndOrigin) {
  const std::string text =
      render_toml(resolve({"--module", "llama3", "--config", "llama3_8b", "--training.steps", "7"}));
  EXPECT_THAT(text, HasSubstr("module = \"llama3\"\n# config: llama3_8b\n"));
  EXPECT_THAT(text, HasSubstr("\n[training]\n"));
  EXPECT_THAT(text, HasSubstr("\nsteps = 7  # command line\n"));
  EXPECT_THAT(text, HasSubstr("\ndim = 4096  # preset llama3_8b\n"));
  EXPECT_THAT(text, HasSubstr("\nlr = 3e-04  # preset llama3_8b\n"));
  EXPECT_THAT(text, HasSubstr("\nseed = 7  # preset llama3_base\n"));
  EXPECT_THAT(text, HasSubstr("\n# total_steps = None  # default\n"));
}

TEST_F(PrintTest, NoneThatReplacesAValueIsWrittenOut) {
  const std::string text = render_toml(resolve({"--sample.maybe_count", "None"}));
  EXPECT_THAT(text, HasSubstr("\nmaybe_count = \"None\"  # command line\n"));
}

TEST_F(PrintTest, DefaultsAndPresetsLoadBack) {
  expect_round_trip({});
  expect_round_trip({"--module=llama3", "--config=llama3_8b"});
  expect_round_trip({"--module=mixtral", "--config=mixtral_8x7b"});
}

TEST_F(PrintTest, NoneOverAPresetLoadsBack) {
  expect_round_trip({"--module=llama3", "--config=llama3_8b", "--debug.seed=None"});
}

TEST_F(PrintTest, EveryTypeLoadsBack) {
  expect_round_trip({"--sample.enable_x", "--sample.count=-5", "--sample.maybe_count=None", "--sample.share=0.1",
                     "--sample.name=None", "--sample.maybe_name=None", "--sample.mode=slow", "--sample.file=./a b#c",
                     "--sample.items=", "--sample.maybe_items=None", "--sample.groups=[]"});
  expect_round_trip({"--sample.share=1e-300", "--sample.name=", "--sample.maybe_name=quo\"te's \\ back\n\x1b # = [x]",
                     "--sample.file=läufe/🦙", R"(--sample.items=["a,b", "", "None", "\"", "\u202e"])",
                     R"(--sample.groups=[{"pattern": "norm|\"x\"", "kw": {"lr": 1, "b": [0.5, true], "": {}}}, {}])",
                     "--optimizer.lr=0.1", "--optimizer.eps=1e-8", "--lr_scheduler.min_lr_factor=1"});
}

TEST_F(PrintTest, FilesAsSourcesLoadBack) {
  const std::string path =
      folder_.write("läuf\n.toml", "module = 'llama3'\nconfig = 'llama3_8b'\nsample.name = '#'\n").string();
  expect_round_trip({"--config", path});
}

TEST_F(PrintTest, PrintingIsStable) {
  const std::string first = render_toml(resolve({"--module=llama3", "--config=llama3_8b"}));
  EXPECT_EQ(render_toml(resolve({"--module=llama3", "--config=llama3_8b"})), first);
}

}  // namespace
}  // namespace titan::config
