#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/observability/numerics/finite_scan.hpp"
#include "plugins/observability/numerics/sighting.hpp"
#include "titan/sdk/guard.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::observability {

/// Looks at what goes into and out of every module of a rank, in forward and backward, and remembers the first tensor
/// that is not finite. Training thread. While it is not started its interceptors only pass on.
class ModuleWatch {
 public:
  explicit ModuleWatch(const sdk::GuardHandles& handles);
  ~ModuleWatch();
  ModuleWatch(const ModuleWatch&) = delete;
  ModuleWatch& operator=(const ModuleWatch&) = delete;

  /// Looks from now on, having seen nothing yet. Attaches to the modules the first time.
  void start();
  void stop();

  /// The first tensor that was not finite since start(): nowhere where there was none.
  const Sighting& first() const;
  /// The same, or the first tensor of very large values where one came before it, or where no tensor of this rank was
  /// not finite. In a step that came to finite numbers only one with a value beyond all measure of its others counts.
  Sighting origin(bool is_step_finite) const;

 private:
  struct State;
  struct Call;
  void attach();
  void hook_parameters();

  std::shared_ptr<State> state_;  // shared with interceptors and hooks, which live as long as tree and graph
  bool is_attached_ = false;
  std::vector<std::pair<at::Tensor, unsigned>> hooks_;  // at parameters
};

}  // namespace titan::observability
