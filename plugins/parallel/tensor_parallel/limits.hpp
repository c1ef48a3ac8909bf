#pragma once

#include <cstdint>
#include <string>

#include "titan/sdk/strategy.hpp"

namespace titan::parallel {

inline constexpr const char* kTensorOption = "parallelism.tensor_parallel_degree";
inline constexpr const char* kSequenceOption = "parallelism.enable_sequence_parallel";
inline constexpr const char* kLengthOption = "training.max_context_length";

/// Options that tensor parallelism depends on, beside the degrees.
struct TensorSettings {
  bool splits_sequence = true;
  std::int64_t sequence_length = 0;
  std::int64_t chunks_per_rank = 2;  // of a row, where context parallelism splits it
};

/// ConfigError, with option, arithmetic and what would fit, for a model or sequence that the degree does not divide.
void check_limits(const titan_mesh_facts& mesh, const titan_model_facts& model, const TensorSettings& settings);

/// ConfigError unless `degree` divides `size`; `what` says of what it is the size: "12 heads".
void require_divisible(std::int64_t size, std::int64_t degree, const std::string& what);

}  // namespace titan::parallel
