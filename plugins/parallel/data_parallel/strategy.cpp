#include "plugins/parallel/data_parallel/strategy.hpp"

#include "plugins/parallel/data_parallel/data_parallel.hpp"

namespace titan::parallel {
namespace {

constexpr const char* kReshardOption = "parallelism.fsdp_reshard_after_forward";

void describe(sdk::Describe& declare) {
  declare.option({kReshardOption, "default",
                  "Whether FSDP lets go of a block's gathered parameters after its forward and gathers them again "
                  "before its backward: always, never, or default: all blocks but the last one, whose backward comes "
                  "at once. never saves one gather a block and micro-batch, and keeps the whole model in memory.",
                  sdk::one_of({"default", "always", "never"}), sdk::must_match});
}

std::shared_ptr<Part> apply(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh& mesh,
                            Applied& applied) {
  Options options{reshard_policy(host.config().string(kReshardOption))};
  options.expert_parameters = applied.expert_parameters;
  options.stages = applied.stages;
  const auto made = DataParallel::apply(tree.at_priority(priority::kData), mesh, options);
  if (made != nullptr) host.info("parallel", made->description());
  return made;
}

}  // namespace

const Strategy kDataParallel{describe, nullptr, apply};

}  // namespace titan::parallel
