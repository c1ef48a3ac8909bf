#include "core/optim/grad_norm.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/optim/kernels/norm_kernel.hpp"
#include "core/tensor/kernel_choice.hpp"
#include "core/tensor/parallel.hpp"
#include "core/tensor/values.hpp"

namespace titan::optim {
namespace {

// Tensors are cut into chunks of one size, and the chunks' sums are added in order: any number of threads gives the
// same bits.
constexpr std::int64_t kChunk = 1 << 15;
constexpr std::int64_t kLanes = 16;

struct Chunk {
  const void* data;
  at::ScalarType type;
  std::int64_t size;
};

struct SumOfSquares {
  static double add(double sum, double value) { return sum + value * value; }
  static double join(double a, double b) { return a + b; }
};

struct Largest {
  static double add(double largest, double value) { return join(largest, std::abs(value)); }
  // NaN wins over everything, as in torch.
  static double join(double a, double b) { return std::isnan(a) || a > b ? a : b; }
};

// Independent lanes, so that the compiler may use vector instructions without reordering a sum.
template <class Reduction, class Scalar>
double reduce(const Scalar* values, std::int64_t size) {
  std::array<double, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      auto& sum = lanes[static_cast<std::size_t>(lane)];
      sum = Reduction::add(sum, static_cast<double>(values[i + lane]));
    }
  }
  double total = 0;
  for (; i < size; ++i) total = Reduction::add(total, static_cast<double>(values[i]));
  for (const double sum : lanes) total = Reduction::join(total, sum);
  return total;
}

/// Whether our own kernel takes the chunk.
bool has_kernel(const Chunk& chunk) {
  return (chunk.type == at::kFloat || chunk.type == at::kBFloat16) && tensor::is_enabled(tensor::Kernel::grad_norm);
}

template <class Reduction>
double reduce(const Chunk& chunk) {
  if constexpr (std::is_same_v<Reduction, SumOfSquares>) {
    if (has_kernel(chunk)) {
      return chunk.type == at::kFloat
                 ? kernels::sum_of_squares(static_cast<const float*>(chunk.data), chunk.size)
                 : kernels::sum_of_squares(static_cast<const at::BFloat16*>(chunk.data), chunk.size);
    }
  }
  switch (chunk.type) {
    case at::kFloat:
      return reduce<Reduction>(static_cast<const float*>(chunk.data), chunk.size);
    case at::kDouble:
      return reduce<Reduction>(static_cast<const double*>(chunk.data), chunk.size);
    case at::kBFloat16:
      return reduce<Reduction>(static_cast<const at::BFloat16*>(chunk.data), chunk.size);
    default:
      return reduce<Reduction>(static_cast<const at::Half*>(chunk.data), chunk.size);
  }
}

std::vector<Chunk> cut(const std::vector<at::Tensor>& tensors) {
  std::vector<Chunk> chunks;
  for (const at::Tensor& tensor : tensors) {
    const auto* bytes = static_cast<const char*>(tensor.const_data_ptr());
    for (std::int64_t begin = 0; begin < tensor.numel(); begin += kChunk) {
      const std::int64_t size = std::min(kChunk, tensor.numel() - begin);
      chunks.push_back({bytes + begin * static_cast<std::int64_t>(tensor.element_size()), tensor.scalar_type(), size});
    }
  }
  return chunks;
}

/// Chunks that one thread should get at least: small tensors have small ones.
std::int64_t grain_of(const std::vector<Chunk>& chunks) {
  std::int64_t elements = 1;
  for (const Chunk& chunk : chunks) elements += chunk.size;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(chunks.size()) * kChunk / elements);
}

template <class Reduction>
double reduce(const std::vector<at::Tensor>& tensors) {
  const std::vector<Chunk> chunks = cut(tensors);
  std::vector<double> sums(chunks.size());
  const auto count = static_cast<std::int64_t>(chunks.size());
  tensor::parallel_for(0, count, grain_of(chunks), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      sums[i] = reduce<Reduction>(chunks[i]);
    }
  });
  double total = 0;
  for (const double sum : sums) total = Reduction::join(total, sum);
  return total;
}

/// Whether these are a rehearsal's: they have no values.
bool are_shapes(const std::vector<at::Tensor>& gradients) {
  return !gradients.empty() && gradients.front().defined() && !tensor::has_values(gradients.front());
}

std::vector<at::Tensor> checked(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> dense;
  dense.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) {
    TITAN_CHECK(gradient.defined() && gradient.is_cpu() && gradient.is_floating_point(), "a gradient of another kind");
    dense.push_back(gradient.is_non_overlapping_and_dense() ? gradient : gradient.contiguous());
  }
  return dense;
}

}  // namespace

double gradient_norm(const std::vector<at::Tensor>& gradients, NormType type) {
  if (are_shapes(gradients)) return 0;
  return type == NormType::two ? std::sqrt(sum_of_squares(gradients)) : reduce<Largest>(checked(gradients));
}

double sum_of_squares(const std::vector<at::Tensor>& gradients) {
  return are_shapes(gradients) ? 0 : reduce<SumOfSquares>(checked(gradients));
}

double clip_coefficient(double norm, double max_norm) {
  const double coefficient = max_norm / (norm + 1e-6);
  return coefficient > 1.0 ? 1.0 : coefficient;
}

}  // namespace titan::optim
