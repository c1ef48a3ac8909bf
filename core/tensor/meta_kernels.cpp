// What libtorch's operators make of shapes, where it has that in Python alone: output sizes, strides and dtypes as its
// CPU kernels give them, so that memory is counted as it would be taken.
#include "core/tensor/meta_kernels.hpp"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace titan::tensor {
namespace {

at::Tensor index_select(const at::Tensor& self, std::int64_t dim, const at::Tensor& index) {
  std::vector<std::int64_t> sizes = self.sizes().vec();
  if (!sizes.empty()) sizes[static_cast<std::size_t>(at::maybe_wrap_dim(dim, self.dim()))] = index.numel();
  return at::empty(sizes, self.options());
}

at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor& /*indices*/, std::int64_t num_weights,
                                    std::int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/) {
  return at::empty({num_weights, gradient.size(-1)}, gradient.options());
}

/// [B, N, L, H] that lies in memory as [B, L, N, H], as the kernel for CPUs makes it.
at::Tensor by_token(const at::Tensor& like, at::ScalarType type) {
  return at::empty({like.size(0), like.size(2), like.size(1), like.size(3)}, like.options().dtype(type))
      .transpose(1, 2);
}

std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor& query, const at::Tensor& /*key*/,
                                                   const at::Tensor& /*value*/, double /*dropout*/, bool /*is_causal*/,
                                                   const std::optional<at::Tensor>& /*mask*/,
                                                   std::optional<double> /*scale*/) {
  const at::ScalarType precise = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor log_sums =
      at::empty({query.size(0), query.size(2), query.size(1)}, query.options().dtype(precise)).transpose(1, 2);
  return {by_token(query, query.scalar_type()), log_sums};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(
    const at::Tensor& /*gradient*/, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& /*out*/, const at::Tensor& /*log_sums*/, double /*dropout*/, bool /*is_causal*/,
    const std::optional<at::Tensor>& /*mask*/, std::optional<double> /*scale*/) {
  return {by_token(query, query.scalar_type()), by_token(key, key.scalar_type()), by_token(value, value.scalar_type())};
}

/// Of two matrices, or of one and a batch, or of two batches: where both are matrices, their common dim is what the
/// groups cut.
at::Tensor grouped_mm(const at::Tensor& self, const at::Tensor& other, const std::optional<at::Tensor>& ends,
                      const std::optional<at::Tensor>& /*bias*/, std::optional<at::ScalarType> out_type) {
  std::vector<std::int64_t> sizes{self.size(-2), other.size(-1)};
  if (self.dim() == other.dim()) sizes.insert(sizes.begin(), self.dim() == 2 ? ends->size(0) : self.size(0));
  return at::empty(sizes, self.options().dtype(out_type.value_or(self.scalar_type())));
}

/// Element by element over two shapes that broadcast, or over one.
at::Tensor& logical_binary(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  out.resize_(at::infer_size(self.sizes(), other.sizes()));
  return out;
}

at::Tensor& logical_not(const at::Tensor& self, at::Tensor& out) {
  out.resize_(self.sizes());
  return out;
}

at::Tensor floor_divide(const at::Tensor& self, const at::Tensor& other) {
  return at::empty(at::infer_size(self.sizes(), other.sizes()), self.options().dtype(at::result_type(self, other)));
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& self, const at::Tensor& other) {
  const std::vector<std::int64_t> both = at::infer_size(self.sizes(), other.sizes());
  return at::empty(at::infer_size(condition.sizes(), both), condition.options().dtype(at::result_type(self, other)));
}

/// The update is in place: nothing is allocated.
template <class Rate>
void fused_adam(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, Rate,
                double, double, double, double, bool, bool, const std::optional<at::Tensor>&,
                const std::optional<at::Tensor>&) {}

}  // namespace

void register_meta_kernels() {
  // As long as the process: whoever closes a library takes its kernels back.
  static auto* const library = [] {
    auto* made = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
    made->impl("index_select", &index_select);
    made->impl("embedding_dense_backward", &embedding_dense_backward);
    made->impl("_scaled_dot_product_flash_attention_for_cpu", &flash_attention);
    made->impl("_scaled_dot_product_flash_attention_for_cpu_backward", &flash_attention_backward);
    for (const char* op : {"logical_and.out", "logical_or.out", "logical_xor.out"}) made->impl(op, &logical_binary);
    made->impl("logical_not.out", &logical_not);
    made->impl("_grouped_mm", &grouped_mm);
    made->impl("where.self", &where);
    made->impl("floor_divide", &floor_divide);
    made->impl("_fused_adam_", &fused_adam<double>);
    made->impl("_fused_adamw_", &fused_adam<double>);
    return made;
  }();
  (void)library;
}

}  // namespace titan::tensor
