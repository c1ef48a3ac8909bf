#include "plugins/parallel/activation_checkpoint/strategy.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "plugins/parallel/activation_checkpoint/checkpointed_block.hpp"

namespace titan::parallel {
namespace {

constexpr const char* kModeOption = "activation_checkpoint.mode";
constexpr const char* kEveryOption = "activation_checkpoint.every_nth_layer";
constexpr const char* kRandomOption = "activation_checkpoint.preserve_rng_state";
constexpr const char* kCheckOption = "activation_checkpoint.determinism_check";
constexpr const char* kDebugOption = "activation_checkpoint.debug";

void describe(sdk::Describe& declare) {
  declare.options({
      {kModeOption, "selective",
       "What the model's blocks recompute in backward instead of keeping it from forward: none; full, everything but "
       "their inputs; selective, everything but the results of attention and of every other matrix product.",
       sdk::one_of({"none", "selective", "full"}), sdk::must_match},
      {kEveryOption, 0,
       "With activation_checkpoint.mode selective: recompute every nth block in full and the others not at all. 0: "
       "select by operator.",
       sdk::at_least(0), sdk::must_match},
      {kRandomOption, true,
       "Recompute with the random numbers of the forward; without it a block with dropout gets the gradients of "
       "another draw.",
       sdk::must_match},
      {kCheckOption, "default",
       "Whether a recomputation must run the operators of its forward, with results of the same types and sizes: "
       "default, it must, the first operator that differs is named; none.",
       sdk::one_of({"default", "none"}), sdk::must_match},
      {kDebugOption, false,
       "Compare the values of a recomputation with those of its forward too, and log the operators of both when they "
       "differ; slow.",
       sdk::must_match},
  });
}

void validate(const sdk::Config& config, const titan_mesh_facts&, const titan_model_facts&) {
  const std::string mode = config.string(kModeOption);
  const std::int64_t every = config.integer(kEveryOption);
  if (every > 0 && mode != "selective") {
    throw sdk::ConfigError(
        "[activation_checkpoint] every_nth_layer selects blocks: it needs mode selective, or 0: mode ", mode,
        ", every_nth_layer ", every);
  }
}

CheckpointOptions read_options(const sdk::Config& config) {
  CheckpointOptions options;
  options.recording.keeps_results = config.string(kModeOption) == "selective" && config.integer(kEveryOption) == 0;
  options.recording.checks_values = config.boolean(kDebugOption);
  options.recording.checks_operators = options.recording.checks_values || config.string(kCheckOption) == "default";
  options.preserve_rng_state = config.boolean(kRandomOption);
  return options;
}

/// The chain's blocks that have something to recompute: not those that are one leaf, such as embedding and output.
std::vector<strategy::Module> layers(const strategy::Tree& tree) {
  std::vector<strategy::Module> found;
  for (const strategy::Module& block : tree.chain()) {
    if (block.kind() == "custom") found.push_back(block);
  }
  return found;
}

std::shared_ptr<Part> apply(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh&, Applied&) {
  const sdk::Config config = host.config();
  if (config.string(kModeOption) == "none") return nullptr;
  // Counted over the whole model: the same blocks under any pipeline.
  const std::int64_t every = std::max<std::int64_t>(config.integer(kEveryOption), 1);
  CheckpointOptions options = read_options(config);
  options.recording.host = host.find<titan_memory_v1>(TITAN_MEMORY_V1);
  const std::vector<strategy::Module> blocks = layers(tree);
  std::int64_t number = 0, chosen = 0;
  for (const strategy::Module& block : blocks) {
    if (++number % every != 0) continue;
    ++chosen;
    attach(tree.at_priority(priority::kActivationCheckpoint), block, CheckpointedBlock(host, tree, block, options));
  }
  host.info("parallel",
            sdk::concat("activation checkpointing: ", options.recording.keeps_results ? "selective" : "full", ", ",
                        chosen, " of ", blocks.size(), " layers"));
  return nullptr;
}

}  // namespace

const Strategy kActivationCheckpoint{describe, validate, apply};

}  // namespace titan::parallel
