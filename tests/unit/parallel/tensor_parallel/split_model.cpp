#include "tests/unit/parallel/tensor_parallel/split_model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "core/tensor/guard.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::parallel {
namespace {

constexpr std::uint64_t kSeed = 5;

struct Block {
  nn::ModuleId norm, q, k, head_norm, down;
};

titan_error* run_block(void* self, titan_frame* raw, const titan_tensor* in, std::uint32_t, titan_tensor* out,
                       std::uint32_t) {
  return tensor::guarded([&] {
    const Block& block = *static_cast<const Block*>(self);
    nn::Frame& frame = *reinterpret_cast<nn::Frame*>(raw);
    const auto run = [&](nn::ModuleId module, const at::Tensor& x) {
      return frame.tree().call(module, {x}, &frame).front();
    };
    const at::Tensor x = handle::borrow(in[0]), normed = run(block.norm, x);
    const at::Tensor q = run(block.head_norm, run(block.q, normed).unflatten(-1, {-1, kHeadDim})).flatten(-2);
    out[0] = handle::release(x + run(block.down, (q * run(block.k, normed)).tanh()));
  });
}

/// A loss with the last linear inside, or one that is no titan.cross_entropy.
struct Loss {
  nn::ModuleId output = 0, cross_entropy = 0;
};

titan_error* run_loss(void* self, titan_frame* raw, const titan_tensor* in, std::uint32_t, titan_tensor* out,
                      std::uint32_t) {
  return tensor::guarded([&] {
    const Loss& loss = *static_cast<const Loss*>(self);
    nn::Frame& frame = *reinterpret_cast<nn::Frame*>(raw);
    at::Tensor logits = handle::borrow(in[0]);
    if (loss.output != 0) logits = frame.tree().call(loss.output, {logits}, &frame).front();
    if (loss.cross_entropy == 0) {
      out[0] = handle::release(logits.square().sum());
      return;
    }
    out[0] = handle::release(frame.tree().call(loss.cross_entropy, {logits, handle::borrow(in[1])}, &frame).front());
  });
}

/// Calls the strategy as the plugin's callbacks do: its errors end as ours, with their codes.
template <class Body>
auto call(Body body) {
  try {
    return body();
  } catch (const sdk::Error& error) {
    throw Error(static_cast<Exit>(error.code()), error.what());
  }
}

}  // namespace

SplitModel::SplitModel(comm::Communicator& communicator, const SplitOptions& options)
    : communicator_(communicator), views_(tree_, communicator), vocab_(options.vocab) {
  build(options);
  tree_.set_mesh(communicator.mesh());
  if (options.parallel) {
    const strategy::Tree tree = views_.tree();
    const strategy::Mesh mesh = views_.mesh();
    call([&] {
      tensor_ = TensorParallel::apply(tree.at_priority(priority::kTensor), mesh,
                                      {.splits_sequence = options.splits_sequence});
      data_ = DataParallel::apply(tree.at_priority(priority::kData), mesh, {});
    });
  }
  tree_.materialise(options.precision, at::kCPU, kSeed);
  if (const auto data = data_.lock()) data->materialised();
}

nn::ModuleId SplitModel::leaf(nn::ModuleId parent, const char* name, const char* kind,
                              const std::vector<std::int64_t>& shape, std::int32_t split) {
  std::map<std::string, nn::Attribute> attributes;
  if (std::string_view(kind) == "titan.rms_norm") attributes["eps"] = 1e-5;
  const auto id = tree_.add_leaf(parent, name, kind, std::move(attributes));
  if (shape.empty()) return id;
  titan_parameter declaration = titan::testing::declare("weight", shape);
  declaration.init = TITAN_INIT_NORMAL;
  declaration.std = 0.5;
  declaration.split = split;
  tree_.add_parameter(id, declaration);
  return id;
}

nn::ModuleId SplitModel::block(int layer, const SplitOptions& options) {
  auto* made = new Block{};
  const auto id = tree_.add_custom(TITAN_MODULE_ROOT, concat("layers.", layer), run_block, made,
                                   [](void* self) { delete static_cast<Block*>(self); });
  made->norm = leaf(id, "norm", "titan.rms_norm", {kDim}, options.norm_split);
  made->q = leaf(id, "q", "titan.linear", {options.width, kDim}, TITAN_SPLIT_COLUMN);
  made->k = leaf(id, "k", "titan.linear", {options.width, kDim}, TITAN_SPLIT_COLUMN);
  made->head_norm = leaf(id, "head_norm", "titan.rms_norm", {kHeadDim}, TITAN_SPLIT_HEADS);
  made->down = leaf(id, "down", "titan.linear", {kDim, options.width}, TITAN_SPLIT_ROW);
  return id;
}

nn::ModuleId SplitModel::loss_module(const SplitOptions& options) {
  if (!options.output_in_loss && !options.has_own_loss) {
    return leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}, 0);
  }
  auto* made = new Loss{};
  const auto id =
      tree_.add_custom(TITAN_MODULE_ROOT, "loss", run_loss, made, [](void* self) { delete static_cast<Loss*>(self); });
  if (options.output_in_loss) made->output = leaf(id, "output", "titan.linear", {vocab_, kDim}, options.output_split);
  if (!options.has_own_loss) made->cross_entropy = leaf(id, "cross_entropy", "titan.cross_entropy", {}, 0);
  return id;
}

void SplitModel::build(const SplitOptions& options) {
  constexpr nn::ModuleId kRoot = TITAN_MODULE_ROOT;
  tree_.add_to_chain(leaf(kRoot, "tok_embeddings", "titan.embedding", {vocab_, kDim}, options.embedding_split), 0);
  for (int layer = 0; layer < kLayers; ++layer) tree_.add_to_chain(block(layer, options), 0);
  tree_.add_to_chain(leaf(kRoot, "norm", "titan.rms_norm", {kDim}, TITAN_SPLIT_SEQUENCE), 0);
  if (!options.output_in_loss) {
    tree_.add_to_chain(leaf(kRoot, "output", "titan.linear", {vocab_, kDim}, options.output_split), 0);
  }
  tree_.set_loss(loss_module(options));
  tree_.validate();
}

at::Tensor SplitModel::mine(const at::Tensor& rows) const {
  const config::Mesh& mesh = communicator_.mesh();
  const std::int64_t shards = mesh.degree(config::Axis::dp_shard), rank = communicator_.rank();
  const std::int64_t first =
      mesh.coordinate(rank, config::Axis::dp_replicate) * shards + mesh.coordinate(rank, config::Axis::dp_shard);
  return rows.index_select(
      0, at::arange(first, rows.size(0), shards * mesh.degree(config::Axis::dp_replicate), at::kLong));
}

at::Tensor SplitModel::loss(const at::Tensor& rows) {
  const at::Tensor tokens = mine(rows);
  return tree_.loss(tree_.forward(tokens, at::zeros_like(tokens)), tokens.roll(1, 1));
}

double SplitModel::step(const std::vector<at::Tensor>& micro_batches, bool ends) {
  tree_.begin_ledger();
  tree_.zero_gradients();
  const auto data = data_.lock();
  double all = 0;
  for (std::size_t i = 0; i < micro_batches.size(); ++i) {
    const titan_micro_batch event{sizeof event, static_cast<std::uint32_t>(i), i + 1 == micro_batches.size() ? 1 : 0, 1,
                                  0};
    if (data != nullptr) call([&] { data->micro_batch_begin(event); });
    const at::Tensor sum = loss(micro_batches[i]);
    all += sum.item<double>();
    sum.backward(at::full_like(sum, 1.0 / static_cast<double>(micro_batches[i].size(0))));
    if (data != nullptr) call([&] { data->micro_batch_end(event); });
    tree_.collect_gradients();
  }
  if (ends && tensor_ != nullptr) call([&] { tensor_->step_end(); });
  return all;
}

at::Tensor token_rows(std::int64_t num_rows, std::int64_t vocab, std::int64_t seed) {
  return (at::arange(num_rows * kLength, at::kLong) * 7 + seed).remainder(vocab).view({num_rows, kLength});
}

}  // namespace titan::parallel
