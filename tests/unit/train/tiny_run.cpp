#include "tests/unit/train/tiny_run.hpp"

#include <algorithm>
#include <random>

namespace titan::train::tiny {
namespace {

void add_weight(nn::Tree& tree, nn::ModuleId module, std::int64_t vocabulary) {
  const std::int64_t shape[] = {vocabulary, kDim};
  titan_parameter declaration{};
  declaration.struct_size = sizeof declaration;
  declaration.num_dims = 2;
  declaration.name = {"weight", 6};
  declaration.shape = shape;
  declaration.init = TITAN_INIT_NORMAL;
  declaration.std = 1;
  tree.add_parameter(module, declaration);
}

}  // namespace

void add_tiny_model(nn::Tree& tree, std::int64_t vocabulary) {
  const auto embedding = tree.add_leaf(TITAN_MODULE_ROOT, "tok_embeddings", "titan.embedding", {});
  add_weight(tree, embedding, vocabulary);
  const auto output = tree.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
  add_weight(tree, output, vocabulary);
  tree.add_to_chain(embedding, 0);
  tree.add_to_chain(output, 0);
  tree.set_loss(tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}));
}

std::unique_ptr<nn::Tree> tiny_tree(const nn::Precision& precision, std::uint64_t seed) {
  auto tree = std::make_unique<nn::Tree>();
  add_tiny_model(*tree);
  tree->validate();
  tree->materialise(precision, at::kCPU, seed);
  return tree;
}

data::Batch tiny_batch(std::int64_t rows, std::int64_t length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  data::Batch batch;
  batch.rows = rows;
  batch.length = length;
  for (std::int64_t row = 0; row < rows; ++row) {
    auto token = static_cast<std::int64_t>(random() % kVocabulary);
    for (std::int64_t i = 0; i < length; ++i) {
      batch.tokens.push_back(token);
      batch.positions.push_back(i);
      token = static_cast<std::int64_t>(random() % kVocabulary);
      batch.labels.push_back(token);
    }
  }
  batch.num_valid = rows * length;
  return batch;
}

void ignore_labels(data::Batch& batch, std::int64_t count) {
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    if (static_cast<std::int64_t>(i) % batch.length < count) batch.labels[i] = kIgnored;
  }
  batch.num_valid =
      std::count_if(batch.labels.begin(), batch.labels.end(), [](auto label) { return label != kIgnored; });
}

data::Batch rows_of(const data::Batch& batch, std::int64_t begin, std::int64_t end) {
  const auto cut = [&](const std::vector<std::int64_t>& values) {
    return std::vector<std::int64_t>(values.begin() + begin * batch.length, values.begin() + end * batch.length);
  };
  data::Batch part{end - begin, batch.length, cut(batch.tokens), cut(batch.labels), cut(batch.positions), 0};
  ignore_labels(part, 0);
  return part;
}

std::optional<data::Batch> ListSource::next() {
  if (position_ == batches_.size() && repeat_) position_ = 0;
  if (position_ == batches_.size()) return std::nullopt;
  return batches_[position_++];
}

optim::AdamOptimizer tiny_optimizer(const nn::Tree& tree, double lr) {
  std::vector<nn::Parameter*> parameters;
  for (const auto& parameter : tree.parameters()) parameters.push_back(parameter.get());
  optim::AdamOptions options;
  options.lr = lr;
  return optim::AdamOptimizer(parameters, {}, options, optim::Implementation::fused);
}

optim::LrSchedule constant_schedule(std::int64_t steps) {
  optim::LrScheduleOptions options;
  options.training_steps = steps;
  options.warmup_steps = 0;
  options.decay_ratio = 0;
  return optim::LrSchedule(options);
}

std::vector<at::Tensor> weights(const nn::Tree& tree) {
  std::vector<at::Tensor> copies;
  for (const auto& parameter : tree.parameters()) copies.push_back(parameter->storage.detach().clone());
  return copies;
}

double largest_difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, a[i].to(at::kDouble).sub(b[i].to(at::kDouble)).abs().max().item<double>());
  }
  return largest;
}

}  // namespace titan::train::tiny
