#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include "core/nn/rope_table.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::nn {
namespace {

using titan::testing::load_safetensors;
using titan::testing::NamedTensors;
using titan::testing::scaled_difference;

constexpr double kTolerance = 1e-6;
constexpr double kTheta = 500000;

struct Case {
  const char* name;
  std::optional<RopeScaling> scaling;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::map<std::string, Attribute> attributes(const Case& value) {
  std::map<std::string, Attribute> made{{"theta", kTheta}, {"max_positions", std::int64_t{128}}};
  if (value.scaling) {
    made["scaling_factor"] = value.scaling->factor;
    made["low_freq_factor"] = value.scaling->low_freq_factor;
    made["high_freq_factor"] = value.scaling->high_freq_factor;
    made["original_max_positions"] = value.scaling->original_max_positions;
  }
  return made;
}

class RopeVectors : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto path = std::filesystem::path("ops") / (std::string("rope_") + GetParam().name + ".safetensors");
    TITAN_REQUIRE_VECTORS(path);
    vectors_ = load_safetensors(titan::testing::vectors_dir() / path);
  }

  const at::Tensor& at(const std::string& name) { return vectors_.at(name); }

  /// Runs forward and backward; compares with the vectors whose names end in `suffix`.
  void check(const at::Tensor& positions, const std::string& suffix) {
    titan::testing::LeafTree rope("titan.rope", attributes(GetParam()));
    const auto q = at("q").clone().requires_grad_(true), k = at("k").clone().requires_grad_(true);
    const auto out = rope({q, k, positions.expand({2, 33})}, 2);
    EXPECT_LE(scaled_difference(out[0], at("q_out" + suffix)), kTolerance);
    EXPECT_LE(scaled_difference(out[1], at("k_out" + suffix)), kTolerance);
    (out[0].mul(at("grad_q_out")).sum() + out[1].mul(at("grad_k_out")).sum()).backward();
    EXPECT_LE(scaled_difference(q.grad(), at("grad_q" + suffix)), kTolerance);
    EXPECT_LE(scaled_difference(k.grad(), at("grad_k" + suffix)), kTolerance);
  }

  NamedTensors vectors_;
};

TEST_P(RopeVectors, PositionsInOrder) { check(at::arange(33).unsqueeze(0), ""); }
TEST_P(RopeVectors, OneRowOfPositions) { check(at("positions_1xS"), "_pos1"); }
TEST_P(RopeVectors, PositionsOfEachRow) { check(at("positions_BxS"), "_posB"); }

TEST_P(RopeVectors, TableEqualsTheComplexFrequencies) {
  RopeTables tables;
  const at::Tensor table = tables.get({kTheta, GetParam().scaling}, 16, 128, at::kFloat);
  EXPECT_LE(scaled_difference(table.slice(0, 0, 128), at("freqs_cis")), kTolerance);
}

TEST_P(RopeVectors, HalfRotationOfPermutedFeaturesIsTheSame) {
  titan::testing::LeafTree rope("titan.rope", attributes(GetParam()));
  const auto ours = [&](const at::Tensor& x) { return x.transpose(1, 2).index_select(3, at("permutation").argsort()); };
  const auto out = rope({ours(at("hf.q")), ours(at("hf.k")), at::arange(33).expand({2, 33})}, 2);
  EXPECT_LE(scaled_difference(out[0], ours(at("hf.q_out"))), kTolerance);
  EXPECT_LE(scaled_difference(out[1], ours(at("hf.k_out"))), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Ops, RopeVectors,
                         ::testing::Values(Case{"plain", std::nullopt}, Case{"llama31", RopeScaling{8, 1, 4, 256}},
                                           Case{"llama32", RopeScaling{32, 1, 4, 512}}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RopeTableVectors, FarPositionsAtHeadDim128) {
  const std::filesystem::path path = "ops/rope_cache_128.safetensors";
  TITAN_REQUIRE_VECTORS(path);
  const auto vectors = load_safetensors(titan::testing::vectors_dir() / path);
  const std::map<std::string, RopeSpec> specs = {
      {"plain_theta10000", {10000, std::nullopt}},
      {"plain_theta500000", {500000, std::nullopt}},
      {"factor1_default", {500000, RopeScaling{1, 1, 4, 8192}}},
      {"llama31", {500000, RopeScaling{8, 1, 4, 8192}}},
      {"llama32", {500000, RopeScaling{32, 1, 4, 8192}}},
  };
  RopeTables tables;
  for (const auto& [name, spec] : specs) {
    const at::Tensor rows = tables.get(spec, 128, 131072, at::kFloat).index_select(0, vectors.at("positions"));
    EXPECT_LE(scaled_difference(rows, vectors.at(name)), kTolerance) << name;
  }
}

}  // namespace
}  // namespace titan::nn
