#include "tests/unit/parallel/data_parallel/rank_model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "core/tensor/guard.hpp"
#include "core/tensor/interface.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::parallel {
namespace {

constexpr std::uint64_t kSeed = 5;

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
  return nullptr;
}

void add_weight(nn::Tree& tree, nn::ModuleId module, const std::vector<std::int64_t>& shape) {
  titan_parameter declaration = titan::testing::declare("weight", shape);
  declaration.init = TITAN_INIT_NORMAL;
  declaration.std = 0.5;
  tree.add_parameter(module, declaration);
}

struct Block {
  const RankModel* model;
  int layer;
  nn::ModuleId up, down;
  std::int64_t dim;
};

titan_error* run_block(void* self, titan_frame* raw, const titan_tensor* in, std::uint32_t, titan_tensor* out,
                       std::uint32_t) {
  return tensor::guarded([&] {
    const Block& block = *static_cast<const Block*>(self);
    nn::Frame& frame = *reinterpret_cast<nn::Frame*>(raw);
    if (block.model->fail_in_layer == block.layer) throw PluginError("failure on purpose");
    const at::Tensor x = handle::borrow(in[0]);
    if (block.model->pass_through_layer == block.layer) {
      out[0] = handle::release(at::Tensor(x));
      return;
    }
    const at::Tensor hidden = frame.tree().call(block.up, {x}, &frame).front();
    if (block.model->fail_in_backward_of_layer == block.layer && hidden.requires_grad()) {
      hidden.register_hook([](const at::TensorBase&) { TORCH_CHECK(false, "failure on purpose"); });
    }
    const bool skip = block.model->skip_down_of_layer == block.layer;
    out[0] = handle::release(skip ? x + hidden.narrow(-1, 0, block.dim)
                                  : x + frame.tree().call(block.down, {hidden.tanh()}, &frame).front());
  });
}

/// A loss with the last linear inside.
struct Loss {
  nn::ModuleId output, cross_entropy;
};

titan_error* run_loss(void* self, titan_frame* raw, const titan_tensor* in, std::uint32_t, titan_tensor* out,
                      std::uint32_t) {
  return tensor::guarded([&] {
    const Loss& loss = *static_cast<const Loss*>(self);
    nn::Frame& frame = *reinterpret_cast<nn::Frame*>(raw);
    const at::Tensor logits = frame.tree().call(loss.output, {handle::borrow(in[0])}, &frame).front();
    out[0] = handle::release(frame.tree().call(loss.cross_entropy, {logits, handle::borrow(in[1])}, &frame).front());
  });
}

/// Calls the strategy as the plugin's callbacks do: its errors end as ours, with their codes.
template <class Body>
void call(Body body) {
  try {
    body();
  } catch (const sdk::Error& error) {
    throw Error(static_cast<Exit>(error.code()), error.what());
  }
}

}  // namespace

RankModel::RankModel(comm::Communicator& communicator, const ModelOptions& options)
    : communicator_(communicator), sizes_(options.sizes), host_(plugin::HostServices{nullptr, engine_interface, 0, 1}) {
  build(options);
  tree_.set_mesh(communicator.mesh());
  if (options.parallel) {
    const sdk::Host host(host_.get());
    const strategy::Tree tree(sdk::TreeHandle{host, reinterpret_cast<titan_tree*>(&tree_), 200});
    const strategy::Mesh mesh(sdk::MeshHandle{host, reinterpret_cast<titan_mesh*>(&communicator)});
    strategy_ = DataParallel::apply(tree, mesh, options.strategy);
  }
  tree_.materialise(options.precision, at::kCPU, kSeed);
  if (strategy() != nullptr) strategy()->materialised();
  std::vector<nn::Parameter*> parameters;
  for (const auto& parameter : tree_.parameters()) parameters.push_back(parameter.get());
  optim::AdamOptions adam;
  adam.lr = 0.01;
  optimizer_.emplace(parameters, std::vector<optim::GroupRule>{}, adam, optim::Implementation::fused);
}

nn::ModuleId RankModel::leaf(nn::ModuleId parent, const char* name, const char* kind,
                             const std::vector<std::int64_t>& shape) {
  std::map<std::string, nn::Attribute> attributes;
  if (std::string_view(kind) == "titan.rms_norm") attributes["eps"] = 1e-5;
  const auto id = tree_.add_leaf(parent, name, kind, std::move(attributes));
  if (!shape.empty()) add_weight(tree_, id, shape);
  return id;
}

nn::ModuleId RankModel::block(int layer) {
  auto* made = new Block{this, layer, 0, 0, sizes_.dim};
  const auto id = tree_.add_custom(TITAN_MODULE_ROOT, concat("layers.", layer), run_block, made,
                                   [](void* self) { delete static_cast<Block*>(self); });
  made->up = leaf(id, "up", "titan.linear", {sizes_.hidden, sizes_.dim});
  made->down = leaf(id, "down", "titan.linear", {sizes_.dim, sizes_.hidden});
  return id;
}

nn::ModuleId RankModel::loss_with_output() {
  auto* made = new Loss{};
  const auto id =
      tree_.add_custom(TITAN_MODULE_ROOT, "loss", run_loss, made, [](void* self) { delete static_cast<Loss*>(self); });
  made->output = leaf(id, "output", "titan.linear", {kVocab, sizes_.dim});
  made->cross_entropy = leaf(id, "cross_entropy", "titan.cross_entropy", {});
  return id;
}

void RankModel::build(const ModelOptions& options) {
  constexpr nn::ModuleId kRoot = TITAN_MODULE_ROOT;
  const nn::ModuleId embedding = leaf(kRoot, "tok_embeddings", "titan.embedding", {kVocab, sizes_.dim});
  tree_.add_to_chain(embedding, 0);
  for (int layer = 0; layer < sizes_.layers; ++layer) tree_.add_to_chain(block(layer), 0);
  tree_.add_to_chain(leaf(kRoot, "norm", "titan.rms_norm", {sizes_.dim}), 0);
  if (options.output_in_loss) {
    tree_.set_loss(loss_with_output());
  } else {
    const nn::ModuleId output = options.tied ? leaf(kRoot, "output", "titan.linear", {})
                                             : leaf(kRoot, "output", "titan.linear", {kVocab, sizes_.dim});
    if (options.tied) tree_.share_parameter(output, "weight", embedding, 0);
    tree_.add_to_chain(output, 0);
    tree_.set_loss(leaf(kRoot, "loss", "titan.cross_entropy", {}));
  }
  tree_.validate();
}

at::Tensor RankModel::mine(const at::Tensor& rows) const {
  const config::Mesh& mesh = communicator_.mesh();
  const std::int64_t shards = mesh.degree(config::Axis::dp_shard), rank = communicator_.rank();
  const std::int64_t first =
      mesh.coordinate(rank, config::Axis::dp_replicate) * shards + mesh.coordinate(rank, config::Axis::dp_shard);
  return rows.index_select(
      0, at::arange(first, rows.size(0), shards * mesh.degree(config::Axis::dp_replicate), at::kLong));
}

at::Tensor RankModel::loss(const at::Tensor& rows) {
  const at::Tensor tokens = mine(rows);
  return tree_.forward_loss(tokens, at::zeros_like(tokens), tokens.roll(1, 1));
}

void RankModel::backward(const at::Tensor& loss, std::int64_t num_rows) {
  try {
    loss.backward(at::full_like(loss, 1.0 / static_cast<double>(num_rows)));
  } catch (const c10::Error&) {
    tensor::rethrow_torch_error();
  }
}

void RankModel::micro_batch(const at::Tensor& rows, std::uint32_t index, bool is_last) {
  const titan_micro_batch event{sizeof event, index, is_last ? 1 : 0, 1, 0};
  if (strategy() != nullptr) call([&] { strategy()->micro_batch_begin(event); });
  const at::Tensor sum = loss(rows);
  backward(sum, rows.size(0));
  if (strategy() != nullptr) call([&] { strategy()->micro_batch_end(event); });
  tree_.collect_gradients();
}

double RankModel::validate(const at::Tensor& rows) {
  const titan_micro_batch event{sizeof event, 0, 1, 0, 0};
  const at::NoGradGuard no_grad;
  if (strategy() != nullptr) call([&] { strategy()->micro_batch_begin(event); });
  const double value = loss(rows).item<double>();
  if (strategy() != nullptr) call([&] { strategy()->micro_batch_end(event); });
  return value;
}

void RankModel::step(const std::vector<at::Tensor>& micro_batches) {
  tree_.begin_ledger();
  tree_.zero_gradients();
  for (std::size_t i = 0; i < micro_batches.size(); ++i) {
    micro_batch(micro_batches[i], static_cast<std::uint32_t>(i), i + 1 == micro_batches.size());
  }
}

void RankModel::step_in_flight(const std::vector<at::Tensor>& micro_batches) {
  tree_.begin_ledger();
  tree_.zero_gradients();
  std::vector<titan_micro_batch> events;
  std::vector<at::Tensor> losses;
  for (std::uint32_t i = 0; i < micro_batches.size(); ++i) {
    events.push_back({sizeof(titan_micro_batch), i, i + 1 == micro_batches.size() ? 1 : 0, 1, 0});
    call([&] { strategy()->micro_batch_begin(events[i]); });
    losses.push_back(loss(micro_batches[i]));
  }
  for (std::size_t i = 0; i < losses.size(); ++i) {
    call([&] { strategy()->backward_begin(events[i]); });
    backward(losses[i], micro_batches[i].size(0));
    call([&] { strategy()->micro_batch_end(events[i]); });
    tree_.collect_gradients();
  }
}

void RankModel::update() {
  optimizer_->step(1);
  tree_.refresh_compute();
  clear();
}

void RankModel::clear() {
  if (strategy() != nullptr) strategy()->updated();
  tree_.zero_gradients();
}

std::size_t RankModel::gathered_bytes() const {
  std::size_t bytes = 0;
  for (const auto& parameter : tree_.parameters()) {
    if (!parameter->compute.is_alias_of(parameter->storage)) bytes += parameter->compute.storage().nbytes();
  }
  return bytes;
}

at::Tensor token_rows(std::int64_t num_rows, std::int64_t seed) {
  return (at::arange(num_rows * kLength, at::kLong) * 7 + seed).remainder(kVocab).view({num_rows, kLength});
}

}  // namespace titan::parallel
