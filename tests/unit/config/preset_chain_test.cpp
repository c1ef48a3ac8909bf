#include "core/config/preset_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

TEST(PresetChainTest, BasesComeFirst) {
  Registry registry;
  registry.add(Preset{"c", "", "b", {{"x", "3"}}, "m"});
  registry.add(Preset{"b", "", "a", {{"x", "2"}}, "m"});
  registry.add(Preset{"a", "", "", {{"x", "1"}, {"y", "1"}}, "m"});
  const auto settings = settings_of(registry, *registry.find_preset("m", "c"));
  ASSERT_EQ(settings.size(), 4U);
  EXPECT_EQ(settings[0].value, "1");
  EXPECT_EQ(settings[3].value, "3");
}

TEST(PresetChainTest, MissingBaseNamesOwnerAndPreset) {
  Registry registry;
  registry.add(Preset{"b", "", "a", {}, "m"});
  registry.add(Preset{"a", "", "", {}, "other"});
  const auto thrown = test::thrown_by([&] { return preset_chain(registry, *registry.find_preset("m", "b")); });
  EXPECT_EQ(thrown.exit, Exit::internal);
  EXPECT_EQ(thrown.message, "[m] preset b has an unknown base: a") << "a base has the same owner";
}

TEST(PresetChainTest, CirclesAreRefused) {
  Registry registry;
  registry.add(Preset{"a", "", "b", {}, "m"});
  registry.add(Preset{"b", "", "c", {}, "m"});
  registry.add(Preset{"c", "", "b", {}, "m"});
  registry.add(Preset{"self", "", "self", {}, "m"});
  for (const char* name : {"a", "b", "self"}) {
    const auto thrown = test::thrown_by([&] { return preset_chain(registry, *registry.find_preset("m", name)); });
    EXPECT_THAT(thrown.message, HasSubstr("[m] preset is its own base")) << name;
  }
}

}  // namespace
}  // namespace titan::config
