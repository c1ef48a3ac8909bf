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
// Thin matrices are bound by memory.
constexpr std::int64_t kLeastSize = 16;

std::atomic<int> num_comparisons{0};

bool has_faster_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel") == 0 && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

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
  if (!is_enabled(Kernel::linear) || at::native::mkldnn_matmul == nullptr || !has_faster_processor()) return false;
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

bool is_float_matrix(const at::Tensor& tensor) {
  return tensor.dim() == 2 && tensor.scalar_type() == at::kFloat && tensor.is_cpu() && tensor.layout() == at::kStrided;
}

}  // namespace

bool has_fast_products() {
  static const bool kFound = find_fast_products();
  return kFound;
}

bool is_fast_product(const at::Tensor& a, const at::Tensor& b) {
  if (!is_float_matrix(a) || !is_float_matrix(b) || a.size(1) != b.size(0)) return false;
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  if (std::min({m, k, n}) < kLeastSize || 2 * m * k * n < kLeastFlops || num_comparisons > 0) return false;
  return is_plain(a) && is_plain(b) && has_fast_products();
}

namespace {

/// out = a b, or += where it adds.
void multiply(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, bool adds = false) {
  at::native::mkldnn_matmul(a, b, out, adds ? 1.0F : 0.0F, /*alpha=*/1.0F);
}

/// Whether `out` takes a times b as it is.
bool has_room(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  return is_float_matrix(out) && out.size(0) == a.size(0) && out.size(1) == b.size(1) && out.is_contiguous();
}

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  if (!is_fast_product(a, b)) return at::cpu::mm(a, b);
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  multiply(a, b, out);
  return out;
}

at::Tensor& mm_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  if (!is_fast_product(a, b) || !has_room(out, a, b)) return at::cpu::mm_out(out, a, b);
  multiply(a, b, out);
  return out;
}

at::Tensor& add_mm(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b, const at::Scalar& beta,
                   const at::Scalar& alpha) {
  const bool is_plain_sum = beta.equal(1) && alpha.equal(1);
  if (!is_plain_sum || !is_fast_product(a, b) || !has_room(sum, a, b)) return at::cpu::addmm_(sum, a, b, beta, alpha);
  multiply(a, b, sum, /*adds=*/true);
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
