#include "plugins/parallel/tensor_parallel/strategy.hpp"

#include "plugins/parallel/context_parallel/load_balancer.hpp"
#include "plugins/parallel/tensor_parallel/limits.hpp"
#include "plugins/parallel/tensor_parallel/tensor_parallel.hpp"

namespace titan::parallel {
namespace {

void describe(sdk::Describe& declare) {
  declare.option(
      {kSequenceOption, true,
       "Whether tensor parallelism splits the sequence between the layers' matrices too, where each rank then "
       "has a part of the tokens. Off: every rank has all of them there, and as much memory for them.",
       sdk::must_match});
}

void validate(const sdk::Config& config, const titan_mesh_facts& mesh, const titan_model_facts& model) {
  const LoadBalancer balancer = load_balancer(config.string(kBalancerOption));
  check_limits(mesh, model,
               {.splits_sequence = config.boolean(kSequenceOption),
                .sequence_length = config.integer(kLengthOption),
                .chunks_per_rank = num_chunks(balancer, 1)});
}

std::shared_ptr<Part> apply(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh& mesh,
                            Applied& applied) {
  const TensorParallel::Options options{.splits_sequence = host.config().boolean(kSequenceOption),
                                        .expert_parameters = applied.expert_parameters};
  const auto made = TensorParallel::apply(tree.at_priority(priority::kTensor), mesh, options);
  if (made != nullptr) host.info("parallel", made->description());
  return made;
}

}  // namespace

const Strategy kTensorParallel{describe, validate, apply};

}  // namespace titan::parallel
