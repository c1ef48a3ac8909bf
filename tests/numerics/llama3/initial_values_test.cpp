#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/numerics/llama3/llama.hpp"
#include "tests/support/vectors.hpp"

namespace titan::testing {
namespace {

constexpr const char* kStatistics = "ops/init_stats_llama3_debugmodel.json";

TEST(Llama3InitialValues, DebugmodelStartsAsTorchtitans) {
  TITAN_REQUIRE_VECTORS(kStatistics);
  std::ifstream file(vectors_dir() / kStatistics);
  const nlohmann::json expected = nlohmann::json::parse(file).at("params");
  const Llama llama("llama3_debugmodel", {}, same_precision(at::kFloat), 7);
  ASSERT_EQ(llama.parameters().size(), expected.size());
  for (const nn::Parameter* parameter : llama.parameters()) {
    const nlohmann::json& sample = expected.at(parameter->name);
    EXPECT_EQ(parameter->shape, sample.at("shape").get<std::vector<std::int64_t>>()) << parameter->name;
    const at::Tensor values = parameter->storage.detach().to(at::kDouble);
    const double std = sample.at("std").get<double>();
    EXPECT_NEAR(values.std().item<double>(), std, 0.03 * std) << parameter->name;
    EXPECT_NEAR(values.mean().item<double>(), sample.at("mean").get<double>(),
                10 * std / std::sqrt(static_cast<double>(values.numel())))
        << parameter->name;
  }
}

TEST(Llama3InitialValues, TheOutputLayerIsCutAtThreeDeviations) {
  const Llama llama("llama3_debugmodel", {}, same_precision(at::kFloat), 7);
  for (const nn::Parameter* parameter : llama.parameters()) {
    if (parameter->name != "output.weight") continue;
    const double most = parameter->storage.detach().abs().max().item<double>();
    EXPECT_LE(most, 3.0 / 16);
    EXPECT_GT(most, 2.9 / 16);
    return;
  }
  FAIL() << "no output.weight";
}

}  // namespace
}  // namespace titan::testing
