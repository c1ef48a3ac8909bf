#include "core/nn/flash_attention.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <atomic>
#include <tuple>

#include "core/base/log.hpp"
#include "core/nn/attention_tasks.hpp"
#include "core/nn/fused.hpp"
#include "core/nn/kernels/attention/levels.hpp"
#include "core/nn/plain_attention.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

using Documents = std::optional<at::Tensor>;
using OutAndSum = std::tuple<at::Tensor, at::Tensor>;
using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Forward = OutAndSum(const at::Tensor&, const at::Tensor&, const at::Tensor&, const Documents&, bool, double);
using Backward = Gradients(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                           const at::Tensor&, const at::Tensor&, const Documents&, bool, double);

const auto& forward_operator() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("titan::flash_attention", "").typed<Forward>();
  return op;
}

const auto& backward_operator() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("titan::flash_attention_backward", "").typed<Backward>();
  return op;
}

bool is_ours(const at::Tensor& query, double scale) {
  if (!has_kernel(tensor::Kernel::attention, query)) return false;
  const std::int64_t dim = query.size(3);
  if (dim % kernels::kHeadDimStep == 0 && dim > 0 && dim <= kernels::kMostHeadDim && scale > 0) return true;
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true)) {
    log_info("nn", "attention runs on libtorch's kernel, ours takes head dims that are multiples of ",
             kernels::kHeadDimStep, " up to ", kernels::kMostHeadDim, " and scales above 0: head dim ", dim, ", scale ",
             scale);
  }
  return false;
}

void check(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Documents& documents) {
  TORCH_CHECK(query.dim() == 4 && key.dim() == 4 && value.sizes() == key.sizes(),
              "flash_attention takes query [B,N,L,H], key and value [B,K,S,H]");
  TORCH_CHECK(key.size(0) == query.size(0) && key.size(3) == query.size(3) && key.size(1) > 0 &&
                  query.size(1) % key.size(1) == 0 && key.size(2) > 0,
              "flash_attention's query and key do not match: ", query.sizes(), ", ", key.sizes());
  TORCH_CHECK(key.scalar_type() == query.scalar_type() && value.scalar_type() == query.scalar_type(),
              "flash_attention takes query, key and value of one dtype");
  TORCH_CHECK(!documents || key.size(2) == query.size(2), "flash_attention's documents need as many keys as queries");
}

/// x [B,N,L,H] whose last dim is dense: libtorch's kernel takes that for granted too.
at::Tensor dense_rows(const at::Tensor& x) { return x.stride(3) == 1 ? x : x.contiguous(); }

/// x [B,N,L,H]; its memory is only there where it has values.
kernels::Heads heads(const at::Tensor& x) {
  void* data = tensor::has_values(x) ? x.data_ptr() : nullptr;
  return {data, x.stride(0), x.stride(2), x.stride(1)};
}

kernels::LogSums log_sums(const at::Tensor& x) {
  auto* data = tensor::has_values(x) ? x.data_ptr<float>() : nullptr;
  return {data, x.stride(0), x.stride(1), x.stride(2)};
}

kernels::Attention describe(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const at::Tensor& out, const at::Tensor& log_sum, bool is_causal, double scale) {
  kernels::Attention call;
  call.q = heads(query);
  call.k = heads(key);
  call.v = heads(value);
  call.out = heads(out);
  call.log_sum = log_sums(log_sum);
  call.num_heads = query.size(1);
  call.num_kv_heads = key.size(1);
  call.head_dim = query.size(3);
  call.scale = static_cast<float>(scale);
  call.is_causal = is_causal;
  call.is_bfloat16 = query.scalar_type() == at::kBFloat16;
  return call;
}

/// Runs the tasks, each on the next thread that is free. The workspace is a tensor, so that whoever counts memory
/// counts it.
void run(const kernels::Attention& call, const at::Tensor& query, const at::Tensor& key, const Documents& documents,
         bool is_backward) {
  const kernels::AttentionLevel& level = kernels::attention_level();
  const AttentionPlan plan = plan_attention(query, key, documents, is_backward, at::get_num_threads());
  const std::int64_t size = level.workspace_size(call, plan.most_keys);
  const at::Tensor workspace = at::empty({plan.num_workers * size}, query.options().dtype(at::kByte));
  if (!tensor::has_values(query)) return;
  auto* const memory = reinterpret_cast<std::byte*>(workspace.mutable_data_ptr<std::uint8_t>());
  std::atomic<std::size_t> next{0};
  tensor::parallel_for(0, plan.num_workers, 1, [&](std::int64_t first, std::int64_t) {
    for (std::size_t i = next++; i < plan.tasks.size(); i = next++) {
      (is_backward ? level.backward : level.forward)(call, plan.tasks[i], memory + first * size);
    }
  });
}

OutAndSum attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Documents& documents,
                 bool is_causal, double scale) {
  check(query, key, value, documents);
  const at::Tensor q = dense_rows(query), k = dense_rows(key), v = dense_rows(value);
  if (!is_ours(query, scale)) {
    const at::DisableRecordFunctionGuard is_seen_as_one;
    return plain_attention(q, k, v, documents, is_causal, scale);
  }
  at::Tensor out = empty_by_token(q);
  at::Tensor log_sum = at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat));
  run(describe(q, k, v, out, log_sum, is_causal, scale), q, k, documents, /*is_backward=*/false);
  return {out, log_sum};
}

Gradients attend_backward(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
                          const at::Tensor& value, const at::Tensor& out, const at::Tensor& log_sum,
                          const Documents& documents, bool is_causal, double scale) {
  check(query, key, value, documents);
  const at::Tensor q = dense_rows(query), k = dense_rows(key), v = dense_rows(value), o = dense_rows(out),
                   grad = dense_rows(grad_out);
  if (!is_ours(query, scale)) {
    const at::DisableRecordFunctionGuard is_seen_as_one;
    return plain_attention_backward(grad, q, k, v, o, log_sum, documents, is_causal, scale);
  }
  at::Tensor grad_query = empty_by_token(q), grad_key = empty_by_token(k), grad_value = empty_by_token(v);
  kernels::Attention call = describe(q, k, v, o, log_sum, is_causal, scale);
  call.grad_out = heads(grad);
  call.grad_q = heads(grad_query);
  call.grad_k = heads(grad_key);
  call.grad_v = heads(grad_value);
  run(call, q, k, documents, /*is_backward=*/true);
  return {grad_query, grad_key, grad_value};
}

/// What autograd keeps of a call. A node of its own, not a custom function: the operator below runs as autograd's own
/// do, so that selective recomputation may keep its results.
struct FlashAttentionBackward : torch::autograd::Node {
  torch::autograd::SavedVariable query, key, value, out, log_sum;
  Documents documents;
  bool is_causal = false;
  double scale = 1;

  std::string name() const override { return "FlashAttentionBackward"; }
  void release_variables() override {
    for (auto* saved : {&query, &key, &value, &out, &log_sum}) saved->reset_data();
  }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override {
    TORCH_CHECK(!at::GradMode::is_enabled(), "[nn] attention has no second derivative");
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!grads[0].defined()) return torch::autograd::variable_list(3);
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [q, k, v] =
        backward_operator().call(grads[0], query.unpack(), key.unpack(), value.unpack(), out.unpack(shared_from_this()),
                                 log_sum.unpack(shared_from_this()), documents, is_causal, scale);
    return {q, k, v};
  }
};

OutAndSum recorded(c10::DispatchKeySet keys, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                   const Documents& documents, bool is_causal, double scale) {
  std::shared_ptr<FlashAttentionBackward> node;
  if (torch::autograd::compute_requires_grad(query, key, value)) {
    node = std::shared_ptr<FlashAttentionBackward>(new FlashAttentionBackward, torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(query, key, value));
    node->query = torch::autograd::SavedVariable(query, false);
    node->key = torch::autograd::SavedVariable(key, false);
    node->value = torch::autograd::SavedVariable(value, false);
    node->documents = documents;
    node->is_causal = is_causal;
    node->scale = scale;
  }
  auto [out, log_sum] = [&] {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    return forward_operator().redispatch(keys & c10::after_autograd_keyset, query, key, value, documents, is_causal,
                                         scale);
  }();
  if (node) {
    torch::autograd::set_history(out, node);
    node->out = torch::autograd::SavedVariable(out, true);
    node->log_sum = torch::autograd::SavedVariable(log_sum, true);
  }
  return {out, log_sum};
}

bool register_operators() {
  // Another copy of this room may have done it.
  if (c10::Dispatcher::singleton().findSchema({"titan::flash_attention", ""})) return false;
  // As long as the process: whoever closes a library takes its operators back.
  auto* library = new torch::Library(torch::Library::FRAGMENT, "titan", std::nullopt, __FILE__, __LINE__);
  library->def(
      "flash_attention(Tensor query, Tensor key, Tensor value, Tensor? documents, bool is_causal, float scale) -> "
      "(Tensor, Tensor)");
  library->def(
      "flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor log_sum, "
      "Tensor? documents, bool is_causal, float scale) -> (Tensor, Tensor, Tensor)");
  for (const c10::DispatchKey key : {c10::DispatchKey::CPU, c10::DispatchKey::Meta}) {
    library->impl("flash_attention", torch::dispatch(key, &attend));
    library->impl("flash_attention_backward", torch::dispatch(key, &attend_backward));
  }
  library->impl("flash_attention", torch::dispatch(c10::DispatchKey::Autograd, &recorded));
  return true;
}

const bool is_registered = register_operators();

}  // namespace

void register_flash_attention() { (void)is_registered; }

OutAndSum flash_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Documents& documents, bool is_causal, double scale) {
  return forward_operator().call(query, key, value, documents, is_causal, scale);
}

Gradients flash_attention_backward(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
                                   const at::Tensor& value, const at::Tensor& out, const at::Tensor& log_sum,
                                   const Documents& documents, bool is_causal, double scale) {
  return backward_operator().call(grad_out, query, key, value, out, log_sum, documents, is_causal, scale);
}

}  // namespace titan::nn
