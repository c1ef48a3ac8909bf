#include "plugins/parallel/data_parallel/unit_plan.hpp"

#include <algorithm>
#include <set>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

/// The module and those above it, up to the one below the root.
std::vector<strategy::Module> line_of(strategy::Module module) {
  std::vector<strategy::Module> line;
  for (; !module.is_root(); module = module.parent()) line.push_back(module);
  return line;
}

class Planner {
 public:
  explicit Planner(const strategy::Tree& tree) {
    for (const strategy::Module& block : tree.chain()) {
      blocks_.insert(block.id());
      for (const strategy::Module& above : line_of(block)) above_blocks_.insert(above.id());
      units_.push_back({block, {}});
    }
    for (const strategy::Module& module : tree.modules()) add(module);
    std::erase_if(units_, [](const UnitPlan& unit) { return unit.parameters.empty(); });
  }
  std::vector<UnitPlan> units() && { return std::move(units_); }

 private:
  void add(const strategy::Module& module) {
    const auto parameters = module.parameters();
    if (parameters.empty()) return;
    auto& all = unit_of(module).parameters;
    all.insert(all.end(), parameters.begin(), parameters.end());
  }

  UnitPlan& unit_of(const strategy::Module& module) {
    const auto line = line_of(module);
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
    if (found != units_.end()) return *found;
    return units_.emplace_back(UnitPlan{owner, {}});
  }

  std::set<titan_module> blocks_, above_blocks_;
  std::vector<UnitPlan> units_;
};

}  // namespace

std::vector<UnitPlan> plan_units(const strategy::Tree& tree) { return Planner(tree).units(); }

}  // namespace titan::parallel
