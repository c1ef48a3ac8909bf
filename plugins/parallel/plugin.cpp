#include <array>
#include <memory>
#include <vector>

#include "plugins/parallel/activation_checkpoint/strategy.hpp"
#include "plugins/parallel/context_parallel/strategy.hpp"
#include "plugins/parallel/data_parallel/strategy.hpp"
#include "plugins/parallel/expert_parallel/strategy.hpp"
#include "plugins/parallel/pipeline/strategy.hpp"
#include "plugins/parallel/tensor_parallel/strategy.hpp"
#include "titan/sdk/plugin.hpp"
#include "titan/sdk/schedule.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::parallel {
namespace {

/// In the order in which they are applied, inside out: FSDP shards what the others have left of a parameter.
constexpr std::array kStrategies = {&kPipeline,        &kExpertParallel,       &kTensorParallel,
                                    &kContextParallel, &kActivationCheckpoint, &kDataParallel};

/// The strategies at work, outermost first. The tree owns them: works must end before the mesh does.
struct Parts {
  std::vector<std::shared_ptr<Part>> running;
};

/// Lets the tree own the parts: the interceptor passes everything on.
void give_to_tree(const strategy::Tree& tree, std::shared_ptr<Parts> parts) {
  attach(tree, tree.chain().front(),
         [owned = std::move(parts)](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
           return next(frame, in);
         });
}

/// Every kind of parallelism, one strategy a folder.
class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.parallel",
                                           .name = "parallel",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  static constexpr std::int32_t kPriority = priority::kData;

  static void describe(sdk::Describe& declare) {
    for (const Strategy* strategy : kStrategies) {
      if (strategy->describe != nullptr) strategy->describe(declare);
    }
  }

  explicit Plugin(sdk::Host host) : host_(host), schedule_(host) {}

  void validate(const titan_mesh_facts& mesh, const titan_model_facts& model) {
    for (const Strategy* strategy : kStrategies) {
      if (strategy->validate != nullptr) strategy->validate(host_.config(), mesh, model);
    }
  }

  void apply(strategy::Tree tree, strategy::Mesh mesh) {
    const auto parts = std::make_shared<Parts>();
    Applied applied;
    for (const Strategy* strategy : kStrategies) {
      auto made = strategy->apply(host_, tree, mesh, applied);
      if (made != nullptr) parts->running.insert(parts->running.begin(), std::move(made));
    }
    if (parts->running.empty()) return;
    give_to_tree(tree, parts);
    parts_ = parts;
  }

  void materialised() { each(&Part::materialised); }
  strategy::Batch split_batch(strategy::Batch batch) {
    if (const auto parts = parts_.lock()) {
      for (const auto& part : parts->running) batch = part->split_batch(batch);
    }
    return batch;
  }
  void micro_batch_begin(const titan_micro_batch& micro_batch) { each(&Part::micro_batch_begin, micro_batch); }
  void backward_begin(const titan_micro_batch& micro_batch) { each(&Part::backward_begin, micro_batch); }
  void micro_batch_end(const titan_micro_batch& micro_batch) { each(&Part::micro_batch_end, micro_batch); }
  void step_end() { each(&Part::step_end); }
  void updated() { each(&Part::updated); }
  void discard() { each(&Part::discard); }

  std::string_view schedule_name() { return schedule_.schedule_name(); }
  std::vector<titan_stage> stages(const titan_schedule_request& request, std::uint32_t rank) {
    return schedule_.stages(request, rank);
  }
  std::vector<titan_action> actions(const titan_schedule_request& request, std::uint32_t rank) {
    return schedule_.actions(request, rank);
  }

 private:
  template <class Event, class... Arguments>
  void each(Event event, const Arguments&... arguments) {
    const auto parts = parts_.lock();
    if (parts == nullptr) return;
    for (const auto& part : parts->running) ((*part).*event)(arguments...);
  }

  sdk::Host host_;
  PipelineSchedule schedule_;
  std::weak_ptr<Parts> parts_;
};

}  // namespace
}  // namespace titan::parallel

TITAN_PLUGIN(titan::parallel::Plugin, titan::strategy::Interface, titan::sdk::ScheduleInterface);
