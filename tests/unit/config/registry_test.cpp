#include "core/config/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/cli_reader.hpp"
#include "core/config/option_builder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

/// What adding the option throws.
std::string refusal(Registry& registry, const Option& option) {
  const test::Thrown thrown = test::thrown_by([&] { return registry.add(option), 0; });
  EXPECT_EQ(thrown.exit, Exit::internal) << option.name;
  return thrown.message;
}

std::vector<std::string> names(const std::vector<const Option*>& options) {
  std::vector<std::string> out;
  for (const Option* option : options) out.push_back(option->name + " " + option->owner);
  return out;
}

TEST(RegistryTest, FindsWhatWasAdded) {
  Registry registry;
  registry.add(integer("b.x", 1, "").owned_by("one"));
  registry.add(integer("a", 2, "").owned_by("two"));
  ASSERT_NE(registry.find("b.x"), nullptr);
  EXPECT_EQ(registry.find("b.x")->owner, "one");
  EXPECT_EQ(registry.find("b"), nullptr);
  EXPECT_EQ(names(registry.options()), (std::vector<std::string>{"a two", "b.x one"}));
  EXPECT_TRUE(registry.has_section("b"));
  EXPECT_FALSE(registry.has_section("a"));
}

TEST(RegistryTest, TakenNamesNameBothOwners) {
  Registry registry;
  registry.add(integer("a.b", 1, "").owned_by("one"));
  const std::string message = refusal(registry, integer("a.b", 1, "").owned_by("two"));
  EXPECT_THAT(message, HasSubstr("[two] option is declared twice: a.b: already declared by one"));
}

TEST(RegistryTest, NamesMustBeWellFormed) {
  Registry registry;
  for (const char* name : {"", "A.b", "a..b", ".a", "a.", "a-b", "a b", "1a", "a.ü", "a.b.c.d.e", "a\n"}) {
    EXPECT_THAT(refusal(registry, integer(name, 1, "")), HasSubstr("option name must be")) << name;
  }
  for (const char* name : {"module", "config", "model"}) {
    EXPECT_THAT(refusal(registry, integer(name, 1, "")), HasSubstr("reserved")) << name;
  }
  EXPECT_THAT(refusal(registry, boolean("a.no_b", true, "")), HasSubstr("must not begin with no_"));
  EXPECT_NO_THROW(registry.add(integer("a.no_b", 1, "")));
}

TEST(RegistryTest, AnOptionIsNoSection) {
  Registry registry;
  registry.add(integer("a.b", 1, "").owned_by("one"));
  EXPECT_THAT(refusal(registry, integer("a.b.c", 1, "")), HasSubstr("clashes with option a.b of one"));
  EXPECT_THAT(refusal(registry, integer("a", 1, "")), HasSubstr("clashes with option a.b of one"));
  EXPECT_NO_THROW(registry.add(integer("a.bc", 1, "")));
}

TEST(RegistryTest, DefaultsMustBeValid) {
  Registry registry;
  EXPECT_THAT(refusal(registry, integer("a.b", 0, "").at_least(1)),
              HasSubstr("a.b: expected an integer of at least 1"));
  EXPECT_THAT(refusal(registry, text("a.b", "x", "").one_of({"y"})), HasSubstr("expected one of y"));
  EXPECT_THAT(refusal(registry, integer("a.b", 1, "").at_least(2).at_most(1)), HasSubstr("empty range"));
  Option none = integer("a.b", std::nullopt, "");
  none.nullable = false;
  EXPECT_THAT(refusal(registry, none), HasSubstr("got None"));
  Option broken = tables("a.b", "");
  broken.default_value = "[1]";
  EXPECT_THAT(refusal(registry, broken), HasSubstr("list of tables"));
  EXPECT_TRUE(registry.options().empty());
}

TEST(RegistryTest, ModelOptionsBelongToTheirModule) {
  Registry registry;
  registry.add_module("llama3");
  registry.add_module("mixtral");
  registry.add(integer("a", 1, "").owned_by("titan"));
  registry.add(integer("model.dim", 1, "").owned_by("llama3"));
  registry.add(boolean("model.dim", true, "").owned_by("mixtral"));
  refusal(registry, integer("model.dim", 1, "").owned_by("llama3"));

  EXPECT_EQ(registry.find("model.dim"), nullptr) << "no module, no model options";
  EXPECT_EQ(registry.find("model.dim", "llama3")->type, Type::integer);
  EXPECT_EQ(registry.find("model.dim", "mixtral")->type, Type::boolean);
  EXPECT_EQ(registry.find("model.dim", "other"), nullptr);
  EXPECT_NE(registry.find("a", "llama3"), nullptr);
  EXPECT_EQ(names(registry.options()), (std::vector<std::string>{"a titan", "model.dim llama3", "model.dim mixtral"}));
  EXPECT_EQ(names(registry.options("mixtral")), (std::vector<std::string>{"a titan", "model.dim mixtral"}));
  EXPECT_EQ(names(registry.options("")), (std::vector<std::string>{"a titan"}));
  EXPECT_NO_THROW(registry.check());
}

TEST(RegistryTest, OnlyModulesHaveModelOptions) {
  Registry registry;
  registry.add(integer("model.dim", 1, "").owned_by("observer"));
  const test::Thrown thrown = test::thrown_by([&] { return registry.check(), 0; });
  EXPECT_EQ(thrown.exit, Exit::internal);
  EXPECT_THAT(thrown.message, HasSubstr("[observer] only a plugin that provides titan.model/1"));
}

TEST(RegistryTest, PointersSurviveAMove) {
  Registry first;
  first.add_module("m");
  first.add(integer("a", 1, ""));
  first.add(integer("model.b", 1, "").owned_by("m"));
  const Option* a = first.find("a");
  const Option* b = first.find("model.b", "m");
  const Registry second = std::move(first);
  EXPECT_EQ(second.find("a"), a);
  EXPECT_EQ(second.find("model.b", "m"), b);
}

TEST(RegistryTest, PresetsAreUniqueByOwner) {
  Registry registry;
  registry.add(Preset{"small", "", "", {}, "one"});
  registry.add(Preset{"small", "", "", {}, "two"});
  registry.add(Preset{"a_large", "", "", {}, "one"});
  EXPECT_THROW(registry.add(Preset{"small", "", "", {}, "one"}), PluginError);
  EXPECT_EQ(registry.presets("one").size(), 2U);
  EXPECT_EQ(registry.presets("one")[0]->name, "small") << "in order of declaration";
  EXPECT_EQ(registry.find_preset("two", "small")->owner, "two");
  EXPECT_EQ(registry.find_preset("two", "a_large"), nullptr);
  for (const char* name : {"", "x.toml", "x.json", "a/b"}) {
    EXPECT_THROW(registry.add(Preset{name, "", "", {}, "one"}), PluginError) << name;
  }
}

std::string preset_refusal(const std::string& name, const std::string& value) {
  Registry registry;
  registry.add_module("m");
  registry.add(integer("training.steps", 1, "").at_least(1));
  registry.add(integer("model.dim", 1, "").owned_by("m"));
  registry.add(Preset{"p", "", "", {{name, value}}, "m"});
  return test::thrown_by([&] { return registry.check(), 0; }).message;
}

TEST(RegistryTest, CheckReadsEveryPreset) {
  EXPECT_EQ(preset_refusal("training.steps", "7"), "");
  EXPECT_EQ(preset_refusal("model.dim", "7"), "");
  EXPECT_EQ(preset_refusal("absent_plugin.option", "7"), "") << "its plugin may not be loaded";
  EXPECT_EQ(preset_refusal("training.stepz", "7"), "[m] preset p sets an unknown option: training.stepz");
  EXPECT_EQ(preset_refusal("model.width", "7"), "[m] preset p sets an unknown option: model.width");
  EXPECT_EQ(preset_refusal("training.steps", "0"),
            "[m] preset p sets training.steps: expected an integer of at least 1, got 0");
}

TEST(RegistryTest, VerbsMustNotHideOptions) {
  Registry registry;
  registry.add(path("dump_folder", "x", ""));
  registry.add(Verb{"config", "", run_flags(), {}});
  EXPECT_NE(registry.find_verb("config"), nullptr);
  EXPECT_EQ(registry.find_verb("nothing"), nullptr);
  EXPECT_THAT(refusal(registry, text("help", "x", "")), HasSubstr("option has the name of a flag of `titan config`"));
  EXPECT_THROW(registry.add(Verb{"config", "", {}, {}}), InternalError);
  EXPECT_THROW(registry.add(Verb{"other", "", {{.name = "dump_folder", .metavar = "", .help = ""}}, {}}),
               InternalError);
}

TEST(RegistryTest, NamesHaveSections) {
  EXPECT_EQ(section_of("a.b.c"), "a.b");
  EXPECT_EQ(key_of("a.b.c"), "c");
  EXPECT_EQ(section_of("a"), "");
  EXPECT_EQ(key_of("a"), "a");
  EXPECT_TRUE(is_model_option("model.x"));
  EXPECT_FALSE(is_model_option("modeling.x"));
}

}  // namespace
}  // namespace titan::config
