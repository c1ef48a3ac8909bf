#include "tests/unit/parallel/activation_checkpoint/checkpoint_model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros_like.h>

#include <string_view>

#include "core/base/text.hpp"
#include "core/tensor/guard.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::parallel {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr nn::ModuleId kRoot = TITAN_MODULE_ROOT;

const void* engine_interface(titan_string id) {
  return std::string_view(id.data, id.size) == TITAN_TREE_V1 ? nn::tree_interface() : nullptr;
}

}  // namespace

struct CheckpointModel::Layer {
  const CheckpointModelOptions* options;
  nn::ModuleId wq, wk, wv, sdpa, wo, w1, w3, swiglu, w2;
};

CheckpointModel::CheckpointModel(const CheckpointModelOptions& options)
    : options_(options), host_(plugin::HostServices{nullptr, engine_interface, 0, 1}) {
  build();
  tree_.set_mesh({});
  if (options_.mode != Mode::none) attach_checkpoints();
  tree_.materialise({options.dtype, options.dtype, options.dtype}, at::kCPU, kSeed);
}

nn::ModuleId CheckpointModel::leaf(nn::ModuleId parent, const char* name, const char* kind,
                                   const std::vector<std::int64_t>& shape) {
  std::map<std::string, nn::Attribute> attributes;
  if (std::string_view(kind) == "titan.attention") attributes["mask"] = "causal";
  const nn::ModuleId id = tree_.add_leaf(parent, name, kind, std::move(attributes));
  if (shape.empty()) return id;
  titan_parameter weight = titan::testing::declare("weight", shape);
  weight.init = TITAN_INIT_NORMAL;
  weight.std = 0.3;
  tree_.add_parameter(id, weight);
  return id;
}

nn::ModuleId CheckpointModel::layer(std::int64_t number) {
  auto* made = new Layer{};
  made->options = &options_;
  const nn::ModuleId id = tree_.add_custom(kRoot, concat("layers.", number), &run_layer, made,
                                           [](void* self) { delete static_cast<Layer*>(self); });
  const std::int64_t dim = options_.dim, hidden = options_.hidden;
  made->wq = leaf(id, "wq", "titan.linear", {dim, dim});
  made->wk = leaf(id, "wk", "titan.linear", {dim, dim});
  made->wv = leaf(id, "wv", "titan.linear", {dim, dim});
  made->sdpa = leaf(id, "sdpa", "titan.attention", {});
  made->wo = leaf(id, "wo", "titan.linear", {dim, dim});
  made->w1 = leaf(id, "w1", "titan.linear", {hidden, dim});
  made->w3 = leaf(id, "w3", "titan.linear", {hidden, dim});
  made->swiglu = leaf(id, "swiglu", "titan.swiglu", {});
  made->w2 = leaf(id, "w2", "titan.linear", {dim, hidden});
  return id;
}

titan_error* CheckpointModel::run_layer(void* self, titan_frame* raw, const titan_tensor* in, std::uint32_t,
                                        titan_tensor* out, std::uint32_t) {
  return tensor::guarded([&] {
    const Layer& layer = *static_cast<const Layer*>(self);
    nn::Frame& frame = *reinterpret_cast<nn::Frame*>(raw);
    const auto call = [&](nn::ModuleId module, const nn::Tensors& inputs) {
      return frame.tree().call(module, inputs, &frame).front();
    };
    const auto heads = [&](const at::Tensor& x) { return x.unflatten(-1, {layer.options->heads, -1}); };
    const at::Tensor x = handle::borrow(in[0]);
    const at::Tensor mixed =
        call(layer.sdpa, {heads(call(layer.wq, {x})), heads(call(layer.wk, {x})), heads(call(layer.wv, {x}))});
    const at::Tensor h = x + call(layer.wo, {mixed.flatten(-2)});
    at::Tensor gate = call(layer.w1, {h});
    if (layer.options->inside) gate = layer.options->inside(gate);
    const at::Tensor up = call(layer.swiglu, {gate, call(layer.w3, {h})});
    out[0] = handle::release(h + call(layer.w2, {up}));
  });
}

void CheckpointModel::build() {
  tree_.add_to_chain(leaf(kRoot, "tok_embeddings", "titan.embedding", {kVocab, options_.dim}), 0);
  for (std::int64_t number = 0; number < options_.layers; ++number) tree_.add_to_chain(layer(number), 0);
  tree_.add_to_chain(leaf(kRoot, "output", "titan.linear", {kVocab, options_.dim}), 0);
  tree_.set_loss(leaf(kRoot, "loss", "titan.cross_entropy", {}));
  tree_.validate();
}

void CheckpointModel::attach_checkpoints() {
  const sdk::Host host(host_.get());
  const strategy::Tree tree(sdk::TreeHandle{host, reinterpret_cast<titan_tree*>(&tree_), 300});
  CheckpointOptions how = options_.checkpoint;
  how.recording.keeps_results = options_.mode == Mode::selective;
  for (const strategy::Module& block : tree.chain()) {
    if (block.kind() == "custom") attach(tree, block, CheckpointedBlock(host, tree, block, how));
  }
}

at::Tensor CheckpointModel::loss(const at::Tensor& rows) {
  return tree_.loss(tree_.forward(rows, at::zeros_like(rows)), rows.roll(-1, 1));
}

std::map<std::string, at::Tensor> CheckpointModel::gradients(const at::Tensor& rows) {
  std::map<std::string, at::Tensor> found;
  at::Tensor sum = loss(rows);
  sum.backward();
  tree_.collect_gradients();
  for (const auto& parameter : tree_.parameters()) found[parameter->name] = parameter->gradient;
  found["loss"] = sum.detach();
  tree_.zero_gradients();
  return found;
}

at::Tensor token_rows(std::int64_t num_rows, std::int64_t length) {
  return (at::arange(num_rows * length, at::kLong) * 7).remainder(CheckpointModel::kVocab).view({num_rows, length});
}

}  // namespace titan::parallel
