#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plugins/observability/numerics/module_watch.hpp"
#include "plugins/observability/numerics/sighting.hpp"
#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// Finds where a number that is not finite comes from. After a step whose loss or norm is not finite it looks at what
/// the rank keeps, runs the step once more and looks at every module; with debug.detect_anomaly it looks in every step.
/// All ranks compare what they found, and stop before the update or leave it out (debug.on_non_finite).
class NonFiniteLocator : public Tool {
 public:
  static void describe(sdk::Describe& declare);
  static ToolPointer make(sdk::Host host) { return std::make_unique<NonFiniteLocator>(host); }

  explicit NonFiniteLocator(sdk::Host host);

  std::uint32_t duties() const override;
  void attach(const sdk::GuardHandles& handles) override;
  void step_begin(std::int64_t step) override;
  Judgement judge(const titan_outcome& outcome) override;

 private:
  /// What this rank found of a step that has run, with everything it knows by now.
  Sighting found(const titan_outcome& outcome);
  Judgement reported(const titan_outcome& outcome, const std::string& numbers, const Sighting& mine) const;
  /// Writes what was found and the module's inputs and weights, a line each.
  void tell(std::int64_t step, const Sighting& mine, std::int32_t level) const;
  Judgement not_reproduced(const std::string& first, const titan_outcome& outcome) const;

  sdk::Host host_;
  bool always_, skips_;
  std::optional<sdk::GuardHandles> handles_;
  std::optional<ModuleWatch> watch_;
  std::string kept_;        // what was broken before the step
  std::string kept_large_;  // what was very large before a step that came to no finite numbers
};

}  // namespace titan::observability
