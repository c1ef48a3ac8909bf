#pragma once

#include <cstdint>
#include <string>

#include "core/config/config.hpp"
#include "core/config/mesh.hpp"

namespace titan::config {

/// The options that say how many tokens are taken at once.
struct SizeOptions {
  std::int64_t num_tokens_per_microbatch_per_dp_rank = 16384;
  std::int64_t num_tokens_per_train_step = -1;  // over all ranks; -1: one micro-batch a rank, or one group
  std::int64_t max_context_length = 2048;
  std::int64_t dp_degree = 1;
  std::int64_t pp_degree = 1;
  std::int64_t num_pp_microbatches = 1;  // that go through a pipeline together
};

/// How a step of one rank is cut: micro-batches of rows of tokens.
struct Sizes {
  std::int64_t rows = 0;               // of a micro-batch
  std::int64_t length = 0;             // tokens of a row
  std::int64_t num_micro_batches = 0;  // of a step
  std::int64_t group = 1;              // micro-batches that go through the pipeline together; 1 without one
  /// Tokens of this rank's step.
  std::int64_t tokens_per_step() const { return rows * length * num_micro_batches; }
};

/// Divides a step. ConfigError names the options that do not divide and shows the arithmetic.
Sizes plan_sizes(const SizeOptions& options);

/// The same of what a configuration asks of each data-parallel rank of a layout.
Sizes plan_sizes(const Config& config, const Mesh& mesh);

/// Describes a step: "8 rows x 2048 tokens x 1 micro-batch = 16384 tokens".
std::string describe(const Sizes& sizes);

}  // namespace titan::config
