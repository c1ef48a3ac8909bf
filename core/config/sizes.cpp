#include "core/config/sizes.hpp"

#include <limits>
#include <string_view>

#include "core/base/error.hpp"

namespace titan::config {
namespace {

constexpr std::string_view kMicroBatch = "training.num_tokens_per_microbatch_per_dp_rank";
constexpr std::string_view kStep = "training.num_tokens_per_train_step";
constexpr std::string_view kContext = "training.max_context_length";
constexpr std::string_view kGroup = "parallelism.num_pp_microbatches";

void require_positive(std::string_view option, std::int64_t value) {
  if (value < 1) throw ConfigError("[train] ", option, " must be at least 1: ", value);
}

// `factor` says what b is.
std::int64_t checked_product(std::int64_t a, std::string_view factor, std::int64_t b) {
  if (a > std::numeric_limits<std::int64_t>::max() / b) {
    throw ConfigError("[train] ", kMicroBatch, " times ", factor, " is too large: ", a, " x ", b);
  }
  return a * b;
}

// The quotient; else an error such as "1000 = 7 x 128 + 104".
std::int64_t divide(std::string_view option, std::int64_t value, std::string_view unit_name, std::int64_t unit) {
  if (value % unit == 0) return value / unit;
  throw ConfigError("[train] ", option, " must be a multiple of ", unit_name, ": ", value, " = ", value / unit, " x ",
                    unit, " + ", value % unit);
}

void require_whole_groups(const Sizes& sizes) {
  if (sizes.num_micro_batches % sizes.group == 0) return;
  throw ConfigError("[train] the micro-batches of a step must be a multiple of ", kGroup, ": ", sizes.num_micro_batches,
                    " = ", sizes.num_micro_batches / sizes.group, " x ", sizes.group, " + ",
                    sizes.num_micro_batches % sizes.group, ", from ", kStep);
}

}  // namespace

Sizes plan_sizes(const SizeOptions& options) {
  const std::int64_t micro_batch = options.num_tokens_per_microbatch_per_dp_rank;
  require_positive(kContext, options.max_context_length);
  require_positive(kMicroBatch, micro_batch);
  Sizes sizes;
  sizes.length = options.max_context_length;
  sizes.rows = divide(kMicroBatch, micro_batch, kContext, sizes.length);
  sizes.group = options.pp_degree > 1 ? options.num_pp_microbatches : 1;
  const std::int64_t all_ranks = checked_product(micro_batch, "the data-parallel degree", options.dp_degree);
  checked_product(all_ranks, kGroup, sizes.group);
  if (options.num_tokens_per_train_step == -1) {
    sizes.num_micro_batches = sizes.group;
    return sizes;
  }
  if (options.num_tokens_per_train_step < 1) {
    throw ConfigError("[train] ", kStep,
                      " must be -1 (one micro-batch a rank, in a pipeline one group) or at least 1: ",
                      options.num_tokens_per_train_step);
  }
  const std::string unit = options.dp_degree == 1 ? std::string(kMicroBatch)
                                                  : concat(kMicroBatch, " x data-parallel degree (", micro_batch, " x ",
                                                           options.dp_degree, ")");
  sizes.num_micro_batches = divide(kStep, options.num_tokens_per_train_step, unit, all_ranks);
  require_whole_groups(sizes);
  return sizes;
}

Sizes plan_sizes(const Config& config, const Mesh& mesh) {
  SizeOptions options;
  options.num_tokens_per_microbatch_per_dp_rank = config.integer(kMicroBatch);
  options.num_tokens_per_train_step = config.integer(kStep);
  options.max_context_length = config.integer(kContext);
  options.dp_degree = mesh.degree(Axis::dp_replicate) * mesh.degree(Axis::dp_shard);
  options.pp_degree = mesh.degree(Axis::pp);
  if (options.pp_degree > 1) options.num_pp_microbatches = config.integer(kGroup);
  return plan_sizes(options);
}

std::string describe(const Sizes& sizes) {
  const std::string together =
      sizes.group == 1 ? std::string() : concat(", ", sizes.group, " at a time through the pipeline");
  return concat(sizes.rows, sizes.rows == 1 ? " row x " : " rows x ", sizes.length, " tokens x ",
                sizes.num_micro_batches,
                sizes.num_micro_batches == 1 ? " micro-batch = " : " micro-batches = ", sizes.tokens_per_step(),
                " tokens", together);
}

}  // namespace titan::config
