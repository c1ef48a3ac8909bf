#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "core/nn/documents.hpp"
#include "core/nn/flash_attention.hpp"
#include "core/nn/leaf.hpp"
#include "core/tensor/values.hpp"

namespace titan::nn {
namespace {

/// Or is rehearsed as it would run there.
bool runs_on_cpu(const at::Tensor& tensor) { return tensor.is_cpu() || !tensor::has_values(tensor); }

enum class Mask { none, causal, block_causal };

Mask read_mask(Attributes& attributes) {
  const std::string text = attributes.choice("mask", {"none", "causal", "block_causal"});
  if (text == "none") return Mask::none;
  return text == "causal" ? Mask::causal : Mask::block_causal;
}

/// q [B,L,N,H], k and v [B,S,K,H] (, positions [B,L]) -> [B,L,N,H].
class Attention : public Leaf {
 public:
  explicit Attention(LeafSetup& setup)
      : Leaf(setup), mask_(read_mask(setup.attributes)), scale_(setup.attributes.optional_number("scale")) {}

  Tensors forward(Frame& frame, const Tensors& in) override {
    check(in);
    const at::Tensor q = in[0].transpose(1, 2), k = in[1].transpose(1, 2), v = in[2].transpose(1, 2);
    const double scale = scale_.value_or(1 / std::sqrt(static_cast<double>(q.size(3))));
    if (mask_ == Mask::block_causal) {
      const at::Tensor found = documents_of(frame, in[3]);
      // Where every row is one document, all rows go in one call.
      if (found.size(0) != q.size(0))
        return {std::get<0>(flash_attention(q, k, v, found, true, scale)).transpose(1, 2)};
    }
    return {whole_rows(q, k, v, scale).transpose(1, 2)};
  }

 private:
  /// The documents of the batch, worked out once for all layers.
  static at::Tensor documents_of(Frame& frame, const at::Tensor& positions) {
    return frame.outermost().memo().get("documents", positions, [&] { return find_documents(positions); });
  }

  /// The causal mask is aligned top-left: query i sees keys 0 to i, also where there are more keys than queries.
  at::Tensor whole_rows(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale) const {
    const bool is_causal = mask_ != Mask::none;
    if (runs_on_cpu(q) && q.numel() > 0 && k.numel() > 0) {
      return std::get<0>(flash_attention(q, k, v, {}, is_causal, scale));
    }
    return at::scaled_dot_product_attention(q, k, v, {}, 0.0, is_causal, scale, q.size(1) != k.size(1));
  }

  void check(const Tensors& in) const {
    require_inputs(in, 3, 4);
    const at::Tensor &q = in[0], &k = in[1], &v = in[2];
    require_dims(q, 4, "q");
    require_dims(k, 4, "k");
    require_floating(q, "q");
    require_same_shape(v, k, "v");
    require_size(k, 0, q.size(0), "k");
    require_size(k, 3, q.size(3), "k");
    if (k.size(2) == 0 || q.size(2) % k.size(2) != 0) {
      fail("heads must be a multiple of kv heads: ", q.size(2), ", ", k.size(2));
    }
    if (k.scalar_type() != q.scalar_type() || v.scalar_type() != q.scalar_type()) {
      fail("q, k and v must have one dtype");
    }
    if (mask_ == Mask::block_causal) check_block_causal(in);
  }

  void check_block_causal(const Tensors& in) const {
    if (in.size() != 4) fail("mask block_causal needs positions as fourth input");
    if (!runs_on_cpu(in[0])) fail("mask block_causal runs on the CPU only");
    require_size(in[1], 1, in[0].size(1), "k");
    require_int64(in[3], "positions");
    require_dims(in[3], 2, "positions");
    require_size(in[3], 0, in[0].size(0), "positions");
    require_size(in[3], 1, in[0].size(1), "positions");
  }

  Mask mask_;
  std::optional<double> scale_;
};

}  // namespace

std::unique_ptr<Leaf> make_attention(LeafSetup& setup) { return std::make_unique<Attention>(setup); }

}  // namespace titan::nn
