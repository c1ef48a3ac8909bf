#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/numerics/llama3/llama.hpp"

namespace titan::testing {
namespace {

constexpr std::int64_t kVocabulary = 2049;

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

at::Tensor some_tokens(std::int64_t rows, std::int64_t length, std::int64_t salt) {
  return ((at::arange(rows * length, at::kLong) + salt) * 7919 % kVocabulary).view({rows, length});
}

NamedTensors weights_of(const Llama& llama) {
  NamedTensors weights;
  for (const nn::Parameter* parameter : llama.parameters()) weights[parameter->name] = parameter->storage.detach();
  return weights;
}

NamedTensors gradients_of(const Llama& llama) {
  NamedTensors gradients;
  for (const nn::Parameter* parameter : llama.parameters()) gradients[parameter->name] = parameter->gradient;
  return gradients;
}

bool is_kv(const std::string& name) { return name.ends_with("wk.weight") || name.ends_with("wv.weight"); }

/// Rows of `kv_heads` heads, each written `times` times in a row.
at::Tensor repeat_heads(const at::Tensor& weight, std::int64_t kv_heads, std::int64_t times) {
  return weight.view({kv_heads, -1, weight.size(1)}).repeat_interleave(times, 0).flatten(0, 1);
}

/// Sums the rows of each `times` heads in a row: what repeat_heads does to gradients.
at::Tensor sum_heads(const at::Tensor& weight, std::int64_t kv_heads, std::int64_t times) {
  return weight.view({kv_heads, times, -1, weight.size(1)}).sum(1).flatten(0, 1);
}

TEST(Llama3Attention, GroupedQueriesAreRepeatedKeysAndValues) {
  Llama grouped("llama3_parity", {}, same_precision(at::kDouble));
  Llama repeated("llama3_parity", {{"model.n_kv_heads", "8"}}, same_precision(at::kDouble));
  NamedTensors weights = weights_of(grouped);
  for (auto& [name, weight] : weights)
    if (is_kv(name)) weight = repeat_heads(weight, 4, 2);
  repeated.load(weights);
  const at::Tensor tokens = some_tokens(3, 33, 1), labels = some_tokens(3, 33, 2);
  const double loss = grouped.accumulate(tokens, plain_positions(tokens), labels, 1);
  EXPECT_NEAR(repeated.accumulate(tokens, plain_positions(tokens), labels, 1), loss, 1e-12 * loss);
  const NamedTensors expected = gradients_of(repeated);
  for (const auto& [name, gradient] : gradients_of(grouped)) {
    const at::Tensor wanted = is_kv(name) ? sum_heads(expected.at(name), 4, 2) : expected.at(name);
    EXPECT_LT(relative_difference(gradient, wanted), 1e-11) << name;
  }
}

/// Documents of these lengths in one row; each position restarts.
struct PackedRow {
  at::Tensor tokens, labels, positions;
  std::vector<std::int64_t> ends;
};

PackedRow pack(const std::vector<std::int64_t>& lengths) {
  PackedRow row;
  std::vector<at::Tensor> positions;
  std::int64_t end = 0;
  for (const std::int64_t length : lengths) {
    positions.push_back(at::arange(length, at::kLong));
    row.ends.push_back(end += length);
  }
  row.positions = at::cat(positions).unsqueeze(0);
  row.tokens = some_tokens(1, end, 3);
  row.labels = some_tokens(1, end, 4);
  for (const std::int64_t last : row.ends) row.labels.index_put_({at::tensor(0), at::tensor(last - 1)}, -100);
  return row;
}

/// Each document in a row of its own.
double accumulate_alone(Llama& llama, const PackedRow& row) {
  double sum = 0;
  std::int64_t begin = 0;
  for (const std::int64_t end : row.ends) {
    sum += llama.accumulate(row.tokens.slice(1, begin, end), row.positions.slice(1, begin, end),
                            row.labels.slice(1, begin, end), 1);
    begin = end;
  }
  return sum;
}

TEST(Llama3Attention, BlockCausalIsEachDocumentAlone) {
  const Settings block_causal{{"model.attn_mask_type", "block_causal"}};
  Llama packed("llama3_parity", block_causal, same_precision(at::kDouble));
  Llama alone("llama3_parity", block_causal, same_precision(at::kDouble));
  const PackedRow row = pack({17, 1, 30, 16});
  const double sum = packed.accumulate(row.tokens, row.positions, row.labels, 1);
  EXPECT_NEAR(sum, accumulate_alone(alone, row), 1e-12 * sum);
  const NamedTensors expected = gradients_of(alone);
  for (const auto& [name, gradient] : gradients_of(packed))
    EXPECT_LT(relative_difference(gradient, expected.at(name)), 1e-11) << name;
}

TEST(Llama3Attention, CausalSeesEarlierDocuments) {
  Llama packed("llama3_parity", {}, same_precision(at::kDouble));
  Llama alone("llama3_parity", {}, same_precision(at::kDouble));
  const PackedRow row = pack({17, 30, 17});
  const double sum = packed.accumulate(row.tokens, row.positions, row.labels, 1);
  EXPECT_GT(std::abs(sum - accumulate_alone(alone, row)), 1e-6 * sum);
}

TEST(Llama3Attention, NeitherMaskSeesLaterTokens) {
  for (const char* mask : {"causal", "block_causal"}) {
    Llama llama("llama3_parity", {{"model.attn_mask_type", mask}}, same_precision(at::kDouble));
    const at::Tensor tokens = some_tokens(1, 20, 5);
    at::Tensor changed = tokens.clone();
    changed.index_put_({at::tensor(0), at::tensor(12)}, 7);
    const at::Tensor difference = (llama.logits(tokens) - llama.logits(changed)).abs().amax(-1).flatten();
    EXPECT_EQ(difference.slice(0, 0, 12).max().item<double>(), 0) << mask;
    EXPECT_GT(difference.slice(0, 12).min().item<double>(), 0) << mask;
  }
}

}  // namespace
}  // namespace titan::testing
