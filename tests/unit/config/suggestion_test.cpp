#include "core/config/suggestion.hpp"

#include <gtest/gtest.h>

#include "core/config/option_builder.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

class SuggestionTest : public ::testing::Test {
 protected:
  std::string hint(std::string_view name, std::string_view module = "llama3") const {
    return option_hint(registry_, module, name, "--");
  }

  const Registry registry_ = test::sample_registry();
};

TEST_F(SuggestionTest, NearestOption) {
  EXPECT_EQ(hint("training.stepz"), "; did you mean --training.steps?");
  EXPECT_EQ(hint("trainig.step"), "; did you mean --training.steps?");
  EXPECT_EQ(hint("dumpfolder"), "; did you mean --dump_folder?");
  EXPECT_EQ(option_hint(registry_, "llama3", "training.stepz", ""), "; did you mean training.steps?");
}

TEST_F(SuggestionTest, NamesOfTorchtitan) {
  Registry registry;
  registry.add(integer("debug.seed", 1, ""));
  registry.add(integer("training.max_context_length", 1, ""));
  EXPECT_EQ(option_hint(registry, "", "training.seed", "--"), "; here it is called --debug.seed");
  EXPECT_EQ(option_hint(registry, "", "training.seq_len", ""), "; here it is called training.max_context_length");
  EXPECT_EQ(option_hint(registry, "", "training.local_batch_size", ""), "") << "no such option";
}

TEST_F(SuggestionTest, NegatedBooleans) {
  EXPECT_EQ(hint("debug.no_deterministik"), "; did you mean --debug.no_deterministic?");
}

TEST_F(SuggestionTest, KeyWithoutItsSection) {
  EXPECT_EQ(hint("steps"), "; did you mean --training.steps or --validator.steps?");
  EXPECT_EQ(hint("optim.warmup_steps"), "; did you mean --lr_scheduler.warmup_steps?");
}

TEST_F(SuggestionTest, OptionsOfOtherModules) {
  EXPECT_EQ(hint("model.n_experts"), "; it belongs to module mixtral");
  EXPECT_EQ(hint("model.n_experts", ""), "; it belongs to module mixtral, and no module is selected");
}

TEST_F(SuggestionTest, NothingNearIsNothing) { EXPECT_EQ(hint("completely.different"), ""); }

TEST_F(SuggestionTest, HiddenOptionsAreNotSuggested) {
  Registry registry;
  Option option = integer("a.secret", 1, "");
  option.hidden = true;
  registry.add(option);
  EXPECT_EQ(option_hint(registry, "", "a.secre", ""), "");
}

TEST_F(SuggestionTest, Flags) {
  const Verb& train = *registry_.find_verb("train");
  EXPECT_EQ(flag_hint(registry_, train, "modul"), "; did you mean --module?");
  EXPECT_EQ(flag_hint(registry_, train, "schema"), "; it is a flag of `titan config`");
  EXPECT_EQ(flag_hint(registry_, train, "else"), "");
}

TEST_F(SuggestionTest, Sections) {
  EXPECT_EQ(section_hint(registry_, "llama3", "trainning"), "; did you mean [training]?");
  EXPECT_EQ(section_hint(registry_, "llama3", "model"), "; did you mean [model]?");
  EXPECT_EQ(section_hint(registry_, "", "something"), "");
}

TEST_F(SuggestionTest, ListsPutTheNearestFirst) {
  EXPECT_EQ(list_hint("llama3_8", {"llama3_1b", "llama3_8b"}),
            "; did you mean llama3_8b? There are: llama3_8b, llama3_1b");
  EXPECT_EQ(list_hint("zzz", {"b", "a"}), "; there are: b, a");
  EXPECT_EQ(list_hint("zzz", {}), "; there are none");
}

}  // namespace
}  // namespace titan::config
