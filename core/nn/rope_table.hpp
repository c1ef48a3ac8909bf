#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace titan::nn {

/// Llama 3.1's stretching of the slow frequencies.
struct RopeScaling {
  double factor, low_freq_factor, high_freq_factor;
  std::int64_t original_max_positions;
  auto operator<=>(const RopeScaling&) const = default;
};

/// The rotation angles of a model.
struct RopeSpec {
  double theta;
  std::optional<RopeScaling> scaling;
  auto operator<=>(const RopeSpec&) const = default;
};

/// Makes the inverse frequencies [head_dim / 2], fp32.
at::Tensor inverse_frequencies(const RopeSpec& spec, std::int64_t head_dim);

/// Cosines and sines of one model, shared by its rope modules and grown on demand.
class RopeTables {
 public:
  /// A table [at least num_positions, head_dim / 2, 2] of (cos, sin), fp32 or fp64. Angles are formed in fp32, as
  /// torchtitan forms them: in fp64 they differ by 4e-3 at position 131,071. On one device all the time.
  at::Tensor get(const RopeSpec& spec, std::int64_t head_dim, std::int64_t num_positions, at::ScalarType dtype,
                 at::Device device = at::kCPU);

 private:
  struct Key {
    RopeSpec spec;
    std::int64_t head_dim;
    at::ScalarType dtype;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, at::Tensor> tables_;
};

}  // namespace titan::nn
