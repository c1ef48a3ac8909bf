#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/trainer.hpp"

namespace titan::train::tiny {

inline constexpr std::int64_t kVocabulary = 11;
inline constexpr std::int64_t kDim = 6;
inline constexpr std::int64_t kIgnored = -100;

/// Declares the tiny model in an empty tree.
void add_tiny_model(nn::Tree& tree, std::int64_t vocabulary = kVocabulary);

/// A language model of an embedding and a linear layer: "tok_embeddings", "output", and "loss".
std::unique_ptr<nn::Tree> tiny_tree(const nn::Precision& precision = {at::kDouble, at::kDouble, at::kDouble},
                                    std::uint64_t seed = 1);

/// Rows of made-up tokens, each label the next token; the same for the same seed.
data::Batch tiny_batch(std::int64_t rows, std::int64_t length, std::uint64_t seed);

/// Ignores the labels of the first `count` positions of every row.
void ignore_labels(data::Batch& batch, std::int64_t count);

/// Rows `begin` to `end` of a batch.
data::Batch rows_of(const data::Batch& batch, std::int64_t begin, std::int64_t end);

/// Hands out given batches, then ends, or begins again.
class ListSource final : public BatchSource {
 public:
  explicit ListSource(std::vector<data::Batch> batches, bool repeat = false)
      : batches_(std::move(batches)), repeat_(repeat) {}
  std::optional<data::Batch> next() override;
  void rewind() override { position_ = 0; }
  std::string state() const override { return std::to_string(position_); }
  void load_state(const std::string& state) override { position_ = std::stoul(state); }

 private:
  std::vector<data::Batch> batches_;
  std::size_t position_ = 0;
  bool repeat_;
};

/// An optimizer over all parameters of a tree.
optim::AdamOptimizer tiny_optimizer(const nn::Tree& tree, double lr = 0.01);

/// A schedule of constant factor 1.
optim::LrSchedule constant_schedule(std::int64_t steps = 1000);

/// Copies of all weights of a tree.
std::vector<at::Tensor> weights(const nn::Tree& tree);

/// Largest absolute difference over all pairs.
double largest_difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b);

}  // namespace titan::train::tiny
