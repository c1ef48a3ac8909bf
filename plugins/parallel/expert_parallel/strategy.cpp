#include "plugins/parallel/expert_parallel/strategy.hpp"

#include "plugins/parallel/division.hpp"
#include "plugins/parallel/expert_parallel/exchange.hpp"

namespace titan::parallel {
namespace {

using strategy::Frame, strategy::Inputs, strategy::Next, strategy::Tensors;

constexpr const char* kOption = "parallelism.expert_parallel_degree";
constexpr std::string_view kExperts = "titan.grouped_experts";

void check_experts(std::int64_t num_experts, std::int64_t ep, std::string_view where) {
  if (num_experts == 0) {
    throw sdk::ConfigError("[expert_parallel] ", kOption, " must be 1 for a model without experts: ", ep);
  }
  if (num_experts % ep == 0) return;
  throw sdk::ConfigError("[expert_parallel] ", kOption, " must divide the number of experts", where, ": ", ep, ", ",
                         division(num_experts, ep), ": ", divisors(num_experts), " would fit");
}

void validate(const sdk::Config& /*config*/, const titan_mesh_facts& mesh, const titan_model_facts& model) {
  if (mesh.ep == 1) return;
  check_experts(model.num_experts, mesh.ep, "");
  if (mesh.ep % mesh.tp == 0) return;
  throw sdk::ConfigError("[expert_parallel] ", kOption,
                         " must be a multiple of parallelism.tensor_parallel_degree, because each of its ranks has "
                         "tokens of its own: ",
                         mesh.ep, ", ", mesh.tp);
}

void place(const strategy::Module& module, const strategy::Mesh& mesh, Applied& applied) {
  const strategy::Group ranks = mesh.group("ep");
  const bool has_peers = mesh.group("efsdp").size() > 1;
  for (const strategy::Parameter& parameter : module.parameters()) {
    const std::int64_t num_experts = parameter.shape().front(), mine = num_experts / ranks.size();
    check_experts(num_experts, ranks.size(), sdk::concat(" of ", module.name()));
    parameter.shard("ep", 0, ranks.rank() * mine, mine);
    // The tokens of all these ranks came here. Ranks with the same experts had tokens of their own.
    parameter.declare_gradient("ep", has_peers ? strategy::Gradient::partial : strategy::Gradient::sharded);
    applied.expert_parameters.insert(parameter.name());
  }
}

/// x [M, D] sorted by expert, counts [E] -> [M, D]: runs each expert where it is.
Tensors around(const strategy::Group& ranks, Frame& frame, Next next, Inputs in) {
  const Exchange exchange(ranks, in[1]);
  const Tensors out = next(frame, {exchange.send(in[0]), exchange.counts()});
  return {exchange.send_back(out.front())};
}

std::shared_ptr<Part> apply(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh& mesh,
                            Applied& applied) {
  const strategy::Group ranks = mesh.group("ep");
  if (ranks.size() == 1) return nullptr;
  std::size_t num_mixtures = 0;
  for (const strategy::Module& module : tree.modules()) {
    if (module.kind() != kExperts) continue;
    place(module, mesh, applied);
    attach(tree.at_priority(priority::kExpert), module,
           [ranks](Frame& frame, Next next, Inputs in) { return around(ranks, frame, next, in); });
    ++num_mixtures;
  }
  if (num_mixtures == 0) check_experts(0, ranks.size(), "");
  host.info("parallel", sdk::concat("experts over ", ranks.size(), " ranks in ", num_mixtures, " modules"));
  return nullptr;
}

}  // namespace

const Strategy kExpertParallel{nullptr, validate, apply};

}  // namespace titan::parallel
