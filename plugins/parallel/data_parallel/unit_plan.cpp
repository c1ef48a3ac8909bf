#include "plugins/parallel/data_parallel/unit_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

constexpr const char* kExpertShards = "efsdp";

class Planner {
 public:
  Planner(const strategy::Tree& tree, const std::set<std::string>& expert_parameters)
      : expert_parameters_(expert_parameters) {
    for (const strategy::Module& block : tree.chain()) {
      blocks_.insert(block.id());
      for (const strategy::Module& above : block.lineage()) above_blocks_.insert(above.id());
      units_.push_back({block, {}});
    }
    for (const strategy::Module& module : tree.modules()) add(module);
    for (const strategy::Module& module : tree.modules()) note_shared(module);
    std::erase_if(units_, [](const UnitPlan& unit) { return unit.parameters.empty(); });
  }
  std::vector<UnitPlan> units() && { return std::move(units_); }

 private:
  void add(const strategy::Module& module) {
    auto parameters = module.parameters();
    std::erase_if(parameters, [](const strategy::Parameter& parameter) { return !parameter.is_kept(); });
    if (parameters.empty()) return;
    if (expert_parameters_.contains(parameters.front().name())) return add_experts(module, std::move(parameters));
    auto& all = units_[unit_of(module)].parameters;
    all.insert(all.end(), parameters.begin(), parameters.end());
  }

  void add_experts(const strategy::Module& module, std::vector<strategy::Parameter> parameters) {
    auto place = units_.begin() + static_cast<std::ptrdiff_t>(unit_of(module)) + 1;
    while (place != units_.end() && std::string_view(place->shards) == kExpertShards) ++place;
    units_.insert(place, UnitPlan{module, std::move(parameters), kExpertShards});
  }

  /// Marks the units whose parameters the module uses without being of the unit.
  void note_shared(const strategy::Module& module) {
    for (const strategy::Parameter& shared : module.shared_parameters()) {
      for (UnitPlan& unit : units_) {
        const bool has_it = std::any_of(unit.parameters.begin(), unit.parameters.end(),
                                        [&](const auto& parameter) { return parameter.name() == shared.name(); });
        if (has_it && !module.is_in(unit.module)) unit.is_shared = true;
      }
    }
  }

  /// The place of the unit that the module's parameters belong to, which is made where there is none.
  std::size_t unit_of(const strategy::Module& module) {
    const auto line = module.lineage();
    const auto block = std::find_if(line.begin(), line.end(),
                                    [&](const strategy::Module& above) { return blocks_.contains(above.id()); });
    const strategy::Module owner = block != line.end() ? *block : line.back();
    if (block == line.end() && above_blocks_.contains(owner.id())) {
      throw sdk::ConfigError(
          "[parallel] a module's parameters belong to no unit, it stands above blocks of the chain: ", module.name(),
          ": declare them in a block, or in a module beside the chain");
    }
    const auto found = std::find_if(units_.begin(), units_.end(),
                                    [&](const UnitPlan& unit) { return unit.module.id() == owner.id(); });
    if (found != units_.end()) return static_cast<std::size_t>(found - units_.begin());
    units_.push_back({owner, {}});
    return units_.size() - 1;
  }

  const std::set<std::string>& expert_parameters_;
  std::set<titan_module> blocks_, above_blocks_;
  std::vector<UnitPlan> units_;
};

}  // namespace

std::vector<UnitPlan> plan_units(const strategy::Tree& tree, const std::set<std::string>& expert_parameters) {
  return Planner(tree, expert_parameters).units();
}

}  // namespace titan::parallel
