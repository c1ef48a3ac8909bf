// What a rank runs of the chain.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// The place in the chain of the block that a module stands in or is, or kNowhere.
std::size_t block_of(const std::vector<ModuleId>& chain, const std::deque<Module>& modules, ModuleId module) {
  for (; module != TITAN_MODULE_ROOT; module = modules[module].parent) {
    const auto found = std::find(chain.begin(), chain.end(), module);
    if (found != chain.end()) return static_cast<std::size_t>(found - chain.begin());
  }
  return kNowhere;
}

void check_stages(const std::vector<Stage>& stages, std::size_t num_blocks) {
  if (stages.empty()) throw PluginError("[tree] a rank must run at least one stage of the chain");
  std::size_t free = 0, index = 0;
  for (const Stage& stage : stages) {
    if (stage.count == 0 || stage.first < free ||
        stage.count > num_blocks - std::min<std::size_t>(stage.first, num_blocks)) {
      throw PluginError("[tree] a stage is no part of the chain: blocks ", stage.first, " to ",
                        stage.first + stage.count, " (exclusive), free from ", free, ", chain of ", num_blocks);
    }
    if (stage.index < index) throw PluginError("[tree] stages must be ordered by index: ", stage.index);
    free = stage.first + stage.count;
    index = stage.index + 1;
  }
}

[[noreturn]] void refuse_shared(const Parameter& parameter, const Module& module) {
  throw ConfigError(
      "[tree] modules of different pipeline stages share a parameter, which is not supported: ", parameter.name,
      " and ", module.name, ": --parallelism.pipeline_parallel_degree 1, or a model without tied weights");
}

}  // namespace

void Tree::keep_chain(std::vector<Stage> stages) {
  State& state = *state_;
  if (state.materialised) throw PluginError("[tree] the chain cannot be cut any more: the parameters exist");
  if (!state.stages.empty()) throw PluginError("[tree] the chain is cut into stages already");
  check_stages(stages, state.chain.size());
  std::vector<bool> is_kept(state.chain.size());
  for (const Stage& stage : stages) {
    std::fill_n(is_kept.begin() + stage.first, stage.count, true);
  }
  std::map<const Parameter*, bool> here;
  for (std::size_t id = 0; id < state.modules.size(); ++id) {
    Module& module = state.modules[id];
    const std::size_t block = block_of(state.chain, state.modules, static_cast<ModuleId>(id));
    const bool kept = block == kNowhere ? is_kept.back() : is_kept[block];
    for (Buffer* buffer : module.buffers) buffer->is_kept = kept;
    for (const Parameter* parameter : module.parameters) {
      if (here.emplace(parameter, kept).first->second != kept) refuse_shared(*parameter, module);
    }
  }
  const auto first_gone = std::stable_partition(state.parameters.begin(), state.parameters.end(),
                                                [&](const auto& parameter) { return here[parameter.get()]; });
  std::move(first_gone, state.parameters.end(), std::back_inserter(state.elsewhere));
  state.parameters.erase(first_gone, state.parameters.end());
  state.stages = std::move(stages);
}

bool Tree::is_kept(const Parameter& parameter) const {
  return std::none_of(state_->elsewhere.begin(), state_->elsewhere.end(),
                      [&](const auto& other) { return other.get() == &parameter; });
}

std::vector<Stage> Tree::stages() const {
  if (!state_->stages.empty()) return state_->stages;
  return {Stage{0, 0, static_cast<std::uint32_t>(state_->chain.size())}};
}

}  // namespace titan::nn
