#include "core/nn/initial_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/vectors.hpp"

namespace titan::nn {
namespace {

/// torchtitan's initialisation of llama3, by the name of the parameter.
Init init_of(const std::string& name, std::int64_t dim) {
  Init init{.kind = TITAN_INIT_TRUNC_NORMAL, .std = 0.02, .low = -2, .high = 2};
  if (name.find("norm") != std::string::npos) return {.kind = TITAN_INIT_CONSTANT, .value = 1};
  if (name.starts_with("tok_embeddings")) return {.kind = TITAN_INIT_NORMAL, .std = 1};
  if (name.starts_with("output")) {
    init.std = 1 / std::sqrt(static_cast<double>(dim));
    init.low = -3 * init.std;
    init.high = 3 * init.std;
    return init;
  }
  const bool by_depth = name.find(".wo.") != std::string::npos || name.find(".w2.") != std::string::npos ||
                        name.find(".w3.") != std::string::npos;
  if (by_depth) init.std = 0.02 / std::sqrt(2.0 * (std::stoi(name.substr(std::string("layers.").size())) + 1));
  return init;
}

TEST(InitialValuesVectors, StatisticsOfTheDebugModel) {
  const std::filesystem::path path = "ops/init_stats_llama3_debugmodel.json";
  TITAN_REQUIRE_VECTORS(path);
  std::ifstream file(titan::testing::vectors_dir() / path);
  const auto parameters = nlohmann::json::parse(file).at("params");
  const std::int64_t dim = parameters.at("norm.weight").at("shape").at(0);
  for (const auto& [name, expected] : parameters.items()) {
    Parameter parameter;
    parameter.name = name;
    parameter.shape = expected.at("shape").get<std::vector<std::int64_t>>();
    parameter.init = init_of(name, dim);
    const auto values = initial_values(parameter, 1234, whole(parameter.shape), at::kFloat).to(at::kDouble);
    const double std = expected.at("std"), count = static_cast<double>(values.numel());
    EXPECT_NEAR(values.std().item<double>(), std, 0.03 * std) << name;
    // Five standard errors of a mean, on both sides of the comparison.
    EXPECT_NEAR(values.mean().item<double>(), expected.at("mean").get<double>(), 10 * std / std::sqrt(count)) << name;
    // Not the reference's own largest value: trunc_normal_ in fp32 now and then draws its bound of 2, 100 times std.
    const double largest = values.abs().max().item<double>();
    if (std == 0) {
      EXPECT_EQ(largest, expected.at("absmax").get<double>()) << name;
    } else {
      EXPECT_LE(largest, name.starts_with("output") ? 3 / std::sqrt(static_cast<double>(dim)) : 6.5 * std) << name;
      EXPECT_GE(largest, 2.9 * std) << name;
    }
  }
}

}  // namespace
}  // namespace titan::nn
