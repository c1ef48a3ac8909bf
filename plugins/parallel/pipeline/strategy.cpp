#include "plugins/parallel/pipeline/strategy.hpp"

#include <string>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

void validate(const sdk::Config& config, const titan_mesh_facts& mesh, const titan_model_facts& model) {
  if (mesh.pp > 1) pipeline::check_options(pipeline::read_options(config), mesh.pp, model.num_layers);
}

std::string names_of(const std::vector<std::string>& blocks, const titan_stage& stage) {
  std::string names;
  for (std::uint32_t i = stage.first; i < stage.first + stage.count; ++i) {
    names += sdk::concat(names.empty() ? "" : ", ", blocks[i]);
  }
  return names;
}

void tell(const sdk::Host& host, const pipeline::Request& request, const pipeline::Plan& plan) {
  for (std::size_t rank = 0; rank < plan.stages.size(); ++rank) {
    for (const titan_stage& stage : plan.stages[rank]) {
      host.info("pipeline", sdk::concat("stage ", stage.index, ", rank ", rank,
                                        " of the pipeline: ", names_of(request.blocks, stage)));
    }
  }
}

std::shared_ptr<Part> apply(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh& mesh,
                            Applied& applied) {
  const strategy::Group ranks = mesh.group("pp");
  if (ranks.size() == 1) return nullptr;
  const pipeline::Options options = pipeline::read_options(host.config());
  pipeline::Request request{
      static_cast<std::uint32_t>(ranks.size()), {}, static_cast<std::uint32_t>(options.num_micro_batches), true};
  for (const strategy::Module& block : tree.chain()) request.blocks.emplace_back(block.name());
  const pipeline::Plan plan = pipeline::make_plan(options, request);
  tell(host, request, plan);
  applied.stages = plan.stages[static_cast<std::size_t>(ranks.rank())];
  tree.keep_chain(applied.stages);
  return nullptr;
}

}  // namespace

const Strategy kPipeline{[](sdk::Describe& declare) { pipeline::declare_options(declare); }, validate, apply};

const pipeline::Options& PipelineSchedule::options() {
  if (!options_) options_ = pipeline::read_options(host_.config());
  return *options_;
}

std::string_view PipelineSchedule::schedule_name() {
  return options().csv.empty() ? std::string_view(options().schedule) : "CSV";
}

std::vector<titan_stage> PipelineSchedule::stages(const titan_schedule_request& request, std::uint32_t rank) {
  return planner_.plan(options(), request).stages.at(rank);
}

std::vector<titan_action> PipelineSchedule::actions(const titan_schedule_request& request, std::uint32_t rank) {
  return planner_.plan(options(), request).rows.at(rank);
}

}  // namespace titan::parallel
