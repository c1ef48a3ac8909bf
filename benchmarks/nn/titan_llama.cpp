#include <ATen/ops/arange.h>
#include <c10/core/GradMode.h>

#include "benchmarks/nn/tiny_model.hpp"
#include "core/base/plugin_call.hpp"
#include "core/config/resolver.hpp"
#include "core/nn/tree.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/registry.hpp"
#include "core/tensor/interface.hpp"

namespace titan::bench {
namespace {

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TENSOR_V1) return tensor::tensor_interface();
  return name == TITAN_TREE_V1 ? nn::tree_interface() : nullptr;
}

class TitanLlama : public Model {
 public:
  TitanLlama(const TinySizes& sizes, Weights& weights) {
    plugin::Search search;
    search.files = {LLAMA3_PLUGIN};
    const plugin::PluginRegistry plugins(search);
    config::add_core_options(options_);
    plugins.register_options(options_);
    config_ = config::resolve_settings(options_,
                                       {{"model.dim", concat(sizes.dim)},
                                        {"model.n_layers", concat(sizes.layers)},
                                        {"model.n_heads", concat(sizes.heads)},
                                        {"model.vocab_size", concat(sizes.vocab)}},
                                       "llama3", "");
    instance_ = plugins.load(plugins.find_model("llama3"), {&config_, &engine_interface, 0, 1});
    const auto model = instance_->interface<titan_model_v1>(TITAN_MODEL_V1);
    plugin_call(instance_->host(), "llama3", "build",
                [&] { return model.table->build(model.ctx, reinterpret_cast<titan_tree*>(&tree_)); });
    tree_.validate();
    tree_.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 1);
    for (const auto& parameter : tree_.parameters()) weights[parameter->name] = parameter->storage.detach().clone();
    positions_ = at::arange(sizes.length).expand({sizes.rows, sizes.length}).contiguous();
  }

  double step(const at::Tensor& tokens, const at::Tensor& labels) override {
    const at::Tensor loss = tree_.loss(tree_.forward(tokens, positions_), labels);
    loss.backward();
    tree_.collect_gradients();
    tree_.zero_gradients();
    return loss.item<double>();
  }

 private:
  config::Registry options_;
  config::Config config_;
  std::unique_ptr<plugin::Instance> instance_;
  nn::Tree tree_;
  at::Tensor positions_;
};

}  // namespace

std::unique_ptr<Model> make_titan_llama(const TinySizes& sizes, Weights& weights) {
  return std::make_unique<TitanLlama>(sizes, weights);
}

}  // namespace titan::bench
