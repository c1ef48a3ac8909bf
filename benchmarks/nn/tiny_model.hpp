#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace titan::bench {

/// A llama so small that the host's own work is what a step costs.
struct TinySizes {
  std::int64_t dim = 64, layers = 2, heads = 4, vocab = 256, rows = 1, length = 16;
};

/// A model under measurement.
class Model {
 public:
  virtual ~Model() = default;
  /// Runs forward and backward at positions 0, 1, ...; the loss. Gradients are dropped.
  virtual double step(const at::Tensor& tokens, const at::Tensor& labels) = 0;
};

using Weights = std::map<std::string, at::Tensor>;

/// The llama3 plugin in the module tree, in fp32; copies of its weights go to `weights`.
std::unique_ptr<Model> make_titan_llama(const TinySizes& sizes, Weights& weights);
/// The same model as a plain loop of libtorch's operators.
std::unique_ptr<Model> make_eager_llama(const TinySizes& sizes, const Weights& weights);

}  // namespace titan::bench
