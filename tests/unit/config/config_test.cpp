#include "core/config/config.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/resolver.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  Config config(const std::vector<Preset::Setting>& settings = {}) const {
    return resolve_settings(registry_, settings);
  }

  const Registry registry_ = test::sample_registry();
};

TEST_F(ConfigTest, TypedGetters) {
  const Config config = this->config({{"sample.enable_x", "true"}, {"sample.items", "a,b"}});
  EXPECT_TRUE(config.boolean("sample.enable_x"));
  EXPECT_EQ(config.integer("training.steps"), 10000);
  EXPECT_EQ(config.floating("optimizer.lr"), 8e-4);
  EXPECT_EQ(config.string("optimizer.name"), "AdamW");
  EXPECT_EQ(config.string("dump_folder"), "./outputs");
  EXPECT_EQ(config.string("optimizer.param_groups"), "[]");
  EXPECT_EQ(config.strings("sample.items"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.origin("sample.items"), "command line");
  EXPECT_EQ(config.origin("training.steps"), "default");
}

TEST_F(ConfigTest, OptionalGetters) {
  const Config config =
      this->config({{"debug.seed", "0"}, {"validator.dataset_path", "x"}, {"lr_scheduler.decay_ratio", "0.8"}});
  EXPECT_EQ(config.optional_integer("debug.seed"), 0);
  EXPECT_EQ(config.optional_string("validator.dataset_path"), "x");
  EXPECT_EQ(config.optional_floating("lr_scheduler.decay_ratio"), 0.8);
  EXPECT_EQ(this->config().optional_integer("debug.seed"), std::nullopt);
  EXPECT_EQ(this->config().optional_string("validator.dataset_path"), std::nullopt);
  EXPECT_EQ(this->config().optional_floating("lr_scheduler.decay_ratio"), std::nullopt);
}

TEST_F(ConfigTest, MisuseIsOurMistake) {
  const Config config = this->config();
  EXPECT_THROW(config.integer("training.stepz"), InternalError);
  EXPECT_THROW(config.value("training"), InternalError);
  EXPECT_THROW(config.origin("x"), InternalError);
  EXPECT_THROW(config.integer("optimizer.lr"), InternalError);
  EXPECT_THROW(config.floating("training.steps"), InternalError);
  EXPECT_THROW(config.integer("debug.seed"), InternalError) << "None";
  EXPECT_THROW(config.optional_integer("optimizer.lr"), InternalError);
}

TEST_F(ConfigTest, HashCoversWhatMustMatch) {
  const std::string base = must_match_hash(config());
  EXPECT_EQ(base.size(), 32U);
  EXPECT_EQ(must_match_hash(config()), base);
  EXPECT_NE(must_match_hash(config({{"training.steps", "7"}})), base);
  EXPECT_NE(must_match_hash(config({{"debug.seed", "7"}})), base);
  EXPECT_EQ(must_match_hash(config({{"dump_folder", "elsewhere"}})), base);
  EXPECT_EQ(must_match_hash(config({{"training.num_threads", "1"}})), base);
  EXPECT_NE(must_match_hash(resolve_settings(registry_, {}, "llama3")), base) << "the module counts";
}

}  // namespace
}  // namespace titan::config
