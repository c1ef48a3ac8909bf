#include "core/tensor/products.hpp"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>

#include "core/tensor/kernel_choice.hpp"
#include "core/tensor/processor.hpp"
#include "core/tensor/wide_products.hpp"

// Exported by libtorch, but in no header that it ships: weak, so that a libtorch without it is one without fast
// products. The public way, at::Context's fp32 precision of oneDNN, is a switch of the whole process: it sends small
// products there too, which take a multiple of their time, and is no longer exact on processors with AMX.
namespace at::native {
__attribute__((weak)) void mkldnn_matmul(const Tensor& a, const Tensor& b, const Tensor& out, float beta, float alpha);
}

namespace titan::tensor {
namespace {

// Below, MKL is as fast: a call of oneDNN takes 12 us of one thread more.
constexpr std::int64_t kLeastFlops = 250'000'000;
// Below, the copies take more than they save.
constexpr std::int64_t kLeastWideFlops = 8'000'000;
// Thin matrices are bound by memory.
constexpr std::int64_t kLeastSize = 16;

std::atomic<int> num_comparisons{0};

/// Numbers around 1 that differ in the last bits of fp32.
at::Tensor exacting_matrix(std::int64_t rows, std::int64_t columns, double step) {
  const at::Tensor numbers = at::arange(rows * columns, at::kDouble).mul_(step).sin_().add_(1.5);
  return numbers.to(at::kFloat).view({rows, columns});
}

/// Whether oneDNN's product, one operand transposed, is what fp64's is, to fp32's precision.
bool is_exact() {
  constexpr std::int64_t kSize = 64;
  const at::NoGradGuard no_grad;
  const at::Tensor a = exacting_matrix(kSize, kSize, 1), b = exacting_matrix(kSize, kSize, 0.7).t();
  const at::Tensor out = at::empty({kSize, kSize}, at::kFloat);
  at::native::mkldnn_matmul(a, b, out, 0.0F, 1.0F);
  const at::Tensor expected = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  return (out.to(at::kDouble) - expected).abs().max().item<double>() < 1e-6 * expected.abs().max().item<double>();
}

bool find_fast_products() {
  if (!is_enabled(Kernel::linear) || at::native::mkldnn_matmul == nullptr) return false;
  if (!has_avx512() || is_intels()) return false;
  if (!at::globalContext().hasMKLDNN() || !at::globalContext().userEnabledMkldnn()) return false;
  try {
    return is_exact();
  } catch (const c10::Error&) {
    return false;  // a libtorch whose oneDNN does not work here
  }
}

bool is_plain(const at::Tensor& matrix) {
  const auto rows = matrix.stride(0), columns = matrix.stride(1);
  return (columns == 1 && rows >= matrix.size(1)) || (rows == 1 && columns >= matrix.size(0));
}

bool is_matrix(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.dim() == 2 && tensor.scalar_type() == dtype && tensor.is_cpu() && tensor.layout() == at::kStrided;
}

/// Whether a times b are plain matrices of the dtype, with work for that many operations.
bool is_product_of(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype, std::int64_t least_flops) {
  if (!is_matrix(a, dtype) || !is_matrix(b, dtype) || a.size(1) != b.size(0)) return false;
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  return std::min({m, k, n}) >= kLeastSize && 2 * m * k * n >= least_flops && is_plain(a) && is_plain(b);
}

bool find_wide_products() { return is_enabled(Kernel::linear) && has_slow_bf16_pairs() && !has_amx(); }

}  // namespace

bool uses_own_products() { return num_comparisons == 0 && is_enabled(Kernel::linear); }

bool has_fast_products() {
  static const bool kFound = find_fast_products();
  return kFound;
}

bool is_fast_product(const at::Tensor& a, const at::Tensor& b) {
  return is_product_of(a, b, at::kFloat, kLeastFlops) && uses_own_products() && has_fast_products();
}

bool has_wide_products() {
  static const bool kFound = find_wide_products();
  return kFound;
}

bool is_wide_product(const at::Tensor& a, const at::Tensor& b) {
  return is_product_of(a, b, at::kBFloat16, kLeastWideFlops) && uses_own_products() && has_wide_products();
}

namespace {

/// Whether `out` takes the product of the matrices a and b as it is.
bool has_room(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  return is_matrix(out, a.scalar_type()) && out.size(0) == a.size(0) && out.size(1) == b.size(1) && out.is_contiguous();
}

enum class Way { libtorchs, fast, wide };

Way way_of(const at::Tensor& a, const at::Tensor& b) {
  if (is_fast_product(a, b)) return Way::fast;
  return is_wide_product(a, b) ? Way::wide : Way::libtorchs;
}

/// Makes out = a b, or += where it adds, by a way of our own.
void multiply(Way way, const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, bool adds) {
  if (way == Way::fast) return at::native::mkldnn_matmul(a, b, out, adds ? 1.0F : 0.0F, /*alpha=*/1.0F);
  multiply_wide(a, b, out, adds);
}

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  const Way way = way_of(a, b);
  if (way == Way::libtorchs) return at::cpu::mm(a, b);
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  multiply(way, a, b, out, /*adds=*/false);
  return out;
}

at::Tensor& mm_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  const Way way = way_of(a, b);
  if (way == Way::libtorchs || !has_room(out, a, b)) return at::cpu::mm_out(out, a, b);
  multiply(way, a, b, out, /*adds=*/false);
  return out;
}

at::Tensor& add_mm(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b, const at::Scalar& beta,
                   const at::Scalar& alpha) {
  const bool is_plain_sum = beta.equal(1) && alpha.equal(1);
  const Way way = is_plain_sum ? way_of(a, b) : Way::libtorchs;
  if (way == Way::libtorchs || !has_room(sum, a, b)) return at::cpu::addmm_(sum, a, b, beta, alpha);
  multiply(way, a, b, sum, /*adds=*/true);
  return sum;
}

/// Other copies of this room in the process do it too, with the same result.
bool take_the_place_of_libtorchs() {
  // libtorch warns of it.
  struct Quiet : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  } quiet;
  const c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  // As long as the process: whoever closes a library takes its kernels back.
  auto* library = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
  library->impl("mm", &mm);
  library->impl("mm.out", &mm_out);
  library->impl("addmm_", &add_mm);
  return true;
}

const bool is_in_place = take_the_place_of_libtorchs();

}  // namespace

void use_fast_products() { (void)is_in_place; }

WithoutFastProducts::WithoutFastProducts() { ++num_comparisons; }
WithoutFastProducts::~WithoutFastProducts() { --num_comparisons; }

}  // namespace titan::tensor
