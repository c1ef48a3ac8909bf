#include "plugins/parallel/tensor_parallel/limits.hpp"

#include <numeric>

#include "plugins/parallel/division.hpp"

namespace titan::parallel {
namespace {

void check_heads(std::int64_t tp, const titan_model_facts& model) {
  if (model.num_heads % tp == 0 && model.num_kv_heads % tp == 0) return;
  const bool is_kv = model.num_heads % tp == 0;
  throw sdk::ConfigError("[tensor_parallel] ", kTensorOption, " must divide the numbers of heads and kv heads: ", tp,
                         ", heads ", model.num_heads, ", kv heads ", model.num_kv_heads, ", ",
                         division(is_kv ? model.num_kv_heads : model.num_heads, tp), ": ",
                         divisors(std::gcd(model.num_heads, model.num_kv_heads)), " would fit");
}

void check_sequence(std::int64_t tp, std::int64_t cp, const TensorSettings& settings) {
  const std::int64_t chunks = settings.chunks_per_rank, length = settings.sequence_length;
  const std::int64_t unit = cp == 1 ? tp : chunks * cp * tp;
  if (length % unit == 0) return;
  const std::string parts =
      cp == 1 ? sdk::concat(kTensorOption, " ", tp)
              : sdk::concat(kTensorOption, " ", tp, chunks == 1 ? std::string() : sdk::concat(" x ", chunks),
                            " x parallelism.context_parallel_degree ", cp, " = ", unit);
  const std::int64_t below = length / unit * unit;
  throw sdk::ConfigError("[tensor_parallel] sequence parallelism cuts the sequence, so ", kLengthOption,
                         " must be a multiple of ", parts, ": ", division(length, unit), ": ",
                         below == 0 ? std::string() : sdk::concat(below, " or "), below + unit,
                         " would fit, or --parallelism.no_enable_sequence_parallel");
}

}  // namespace

void check_limits(const titan_mesh_facts& mesh, const titan_model_facts& model, const TensorSettings& settings) {
  if (mesh.tp == 1) return;
  check_heads(mesh.tp, model);
  if (settings.splits_sequence) {
    check_sequence(mesh.tp, mesh.cp, settings);
  } else if (mesh.ep > 1) {
    throw sdk::ConfigError("[tensor_parallel] spreading experts over ranks needs a split sequence: ", kTensorOption,
                           " ", mesh.tp, ", parallelism.expert_parallel_degree ", mesh.ep, ", ", kSequenceOption,
                           " false: leave sequence parallelism on, or use one of the two degrees");
  }
}

void require_divisible(std::int64_t size, std::int64_t degree, const std::string& what) {
  if (size % degree == 0) return;
  throw sdk::ConfigError("[tensor_parallel] ", kTensorOption, " must divide ", what, ": ", degree, ", ",
                         division(size, degree), ": ", divisors(size), " would fit");
}

}  // namespace titan::parallel
