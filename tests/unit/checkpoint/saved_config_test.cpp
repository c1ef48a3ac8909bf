#include "core/checkpoint/saved_config.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/config/option_builder.hpp"
#include "core/config/resolver.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;

/// Options of two models, and one of the core.
config::Registry sample_registry() {
  config::Registry registry;
  registry.add_module("llama");
  registry.add_module("other");
  registry.add(config::integer("model.dim", 8, "Width.").owned_by("llama"));
  registry.add(config::floating("model.theta", 1.5, "Angle.").owned_by("llama"));
  registry.add(config::text("model.kind", "plain", "Kind.").nullable().owned_by("llama"));
  registry.add(config::boolean("model.dim", true, "Another's.").owned_by("other"));
  registry.add(config::integer("training.steps", 10, "Steps."));
  registry.add(config::integer("training.seen", 10, "Not the same on all ranks.").may_differ());
  return registry;
}

Origin llama_origin(std::map<std::string, std::string> config) {
  Origin origin;
  origin.module = "llama";
  origin.config = std::move(config);
  return origin;
}

TEST(SavedConfig, TheModelComesBack) {
  const config::Registry registry = sample_registry();
  const config::Config config = config::resolve_settings(
      registry, {{"model.dim", "32"}, {"model.kind", "a \"b\""}, {"training.steps", "3"}}, "llama");
  const auto saved = saved_config(config);
  EXPECT_EQ(saved.at("training.steps"), "3");
  EXPECT_FALSE(saved.contains("training.seen"));
  const config::Config back = model_config(registry, llama_origin(saved), "MANIFEST.json");
  EXPECT_EQ(back.module(), "llama");
  EXPECT_EQ(back.integer("model.dim"), 32);
  EXPECT_EQ(back.floating("model.theta"), 1.5);
  EXPECT_EQ(back.string("model.kind"), "a \"b\"");
  EXPECT_EQ(back.integer("training.steps"), 10) << "it is not the model's";
}

TEST(SavedConfig, NoneComesBack) {
  const config::Registry registry = sample_registry();
  const config::Config config = config::resolve_settings(registry, {{"model.kind", "None"}}, "llama");
  const config::Config back = model_config(registry, llama_origin(saved_config(config)), "m");
  EXPECT_FALSE(back.optional_string("model.kind"));
}

TEST(SavedConfig, WhatIsNotKnownIsLeftOut) {
  const Origin origin = llama_origin({{"model.gone", "1"}, {"model.dim", "16"}, {"\n[x", "1"}});
  EXPECT_EQ(model_config(sample_registry(), origin, "m").integer("model.dim"), 16);
}

TEST(SavedConfig, WrongValuesAreNamed) {
  const auto refusal = [](const std::string& value) {
    return titan::testing::error_text<DataError>([&] {
      model_config(sample_registry(), llama_origin({{"model.dim", value}}), "MANIFEST.json");
    });
  };
  EXPECT_THAT(refusal("\"wide\""), HasSubstr("cannot be read: MANIFEST.json: "));
  EXPECT_THAT(refusal("= ="), HasSubstr("MANIFEST.json:1:"));
}

TEST(SavedConfig, AValueSetsNoOtherOption) {
  const auto refusal = [](const std::map<std::string, std::string>& config) {
    return titan::testing::error_text<DataError>(
        [&] { model_config(sample_registry(), llama_origin(config), "MANIFEST.json"); });
  };
  EXPECT_THAT(refusal({{"model.dim", "16\nmodel.theta = 7.0"}}),
              HasSubstr("model.dim: a value with a control character"));
  EXPECT_THAT(refusal({{"model.dim", "16\r\n[training]\r\nsteps = 1"}}), HasSubstr("a value with a control character"));
  EXPECT_THAT(refusal({{"model.kind", "\"\"\""}, {"model.theta", "\"\"\""}}), HasSubstr("MANIFEST.json"))
      << "a text that goes on in the next value";
  EXPECT_THAT(refusal({{"model.dim", "{ x = 1 }"}}), HasSubstr("MANIFEST.json"));
}

}  // namespace
}  // namespace titan::checkpoint
