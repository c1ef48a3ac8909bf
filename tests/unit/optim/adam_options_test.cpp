#include "core/optim/adam_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

TEST(AdamOptions, ReadsOptimizerNames) {
  EXPECT_EQ(parse_algorithm("optimizer.name", "Adam"), Algorithm::adam);
  EXPECT_EQ(parse_algorithm("optimizer.name", "AdamW"), Algorithm::adamw);
  EXPECT_EQ(name(Algorithm::adam), "Adam");
  EXPECT_EQ(name(Algorithm::adamw), "AdamW");
}

TEST(AdamOptions, RefusesAnUnknownOptimizerByName) {
  try {
    parse_algorithm("optimizer.name", "Muon");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("optimizer.name"), testing::HasSubstr("Muon"),
                                             testing::HasSubstr("AdamW")));
  }
}

TEST(AdamOptions, ReadsImplementations) {
  EXPECT_EQ(parse_implementation("fused"), Implementation::fused);
  EXPECT_EQ(parse_implementation("for-loop"), Implementation::for_loop);
  EXPECT_THROW(parse_implementation("foreach"), ConfigError);
}

TEST(AdamOptions, AcceptsTheDefaultsAndTheEdges) {
  EXPECT_NO_THROW(validate("optimizer", {}));
  EXPECT_NO_THROW(validate("optimizer", {Algorithm::adam, 0, 0, 0, 0, 0}));
}

TEST(AdamOptions, RefusesFieldsOutOfRange) {
  const auto refused = [](auto field, double value, const char* name) {
    AdamOptions options;
    options.*field = value;
    try {
      validate("optimizer", options);
      FAIL() << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
    }
  };
  refused(&AdamOptions::lr, -1e-9, "optimizer.lr");
  refused(&AdamOptions::lr, std::numeric_limits<double>::infinity(), "optimizer.lr");
  refused(&AdamOptions::beta1, 1.0, "optimizer.beta1");
  refused(&AdamOptions::beta2, -0.1, "optimizer.beta2");
  refused(&AdamOptions::eps, std::numeric_limits<double>::quiet_NaN(), "optimizer.eps");
  refused(&AdamOptions::weight_decay, -1, "optimizer.weight_decay");
}

}  // namespace
}  // namespace titan::optim
