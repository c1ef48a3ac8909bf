#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "core/base/position.hpp"
#include "core/comm/communicator.hpp"
#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"
#include "core/train/observers.hpp"

namespace titan::train {

class Guards;

/// One rank's run as tools may act on it; a titan_control is a Control. Used on the training thread unless said
/// otherwise.
class Control {
 public:
  Control(const EngineRun& run, Position& position, Observers& observers, nn::Tree& tree);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// What is known later than this object is made. Null: not yet, or no longer.
  void set_communicator(comm::Communicator* ranks) { ranks_ = ranks; }
  void set_optimizer(const optim::AdamOptimizer* optimizer) { optimizer_ = optimizer; }
  void set_guards(Guards* guards) { guards_ = guards; }

  /// Suspends and restores the deadlines of all ranks. The time between counts as held, not as the phase's.
  void hold();
  void release();
  /// [any thread] Asks for an agreed end of the run.
  void stop() const;
  /// [any thread]
  const Position& position() const { return position_; }
  /// [any thread] Makes the observers dump.
  void dump(std::int32_t cause, std::string_view reason) const;
  using VisitState = std::function<void(std::int32_t kind, const std::string& name, const at::Tensor& tensor)>;
  /// Visits what this rank keeps from step to step.
  void visit_state(const VisitState& visit) const;
  bool is_shown() const { return run_.ranks.is_shown; }
  std::int64_t rank() const;
  /// Null before there are any.
  Guards* guards() const { return guards_; }

  /// The run of the calling thread, or null.
  static Control* current();

 private:
  const EngineRun& run_;
  Position& position_;
  Observers& observers_;
  nn::Tree& tree_;
  std::atomic<comm::Communicator*> ranks_{nullptr};
  const optim::AdamOptimizer* optimizer_ = nullptr;
  Guards* guards_ = nullptr;
  std::optional<PhaseScope> held_;
  int num_holds_ = 0;
  double held_since_ = 0;
  Control* before_;  // of this thread
};

/// The titan.control/1 table.
const titan_control_v1* control_interface();

}  // namespace titan::train
