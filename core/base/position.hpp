#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "titan/abi/observer.h"

namespace titan {

/// Where a rank is in its run. Written by its training thread, read by any.
class Position {
 public:
  Position() = default;
  Position(const Position&) = delete;
  Position& operator=(const Position&) = delete;

  /// Names of the modules by their number. Once, when the tree has its shape.
  void name_modules(std::vector<std::string> names);
  /// Name of a module; empty for the root and before the names are known.
  std::string_view module_name(std::uint32_t module) const;
  /// A copy of all of it.
  titan_place place() const;
  /// In words: "step 3, micro-batch 0, forward, in layers.2.attention"; what is not known is left out. After an
  /// exception: where that came from.
  std::string describe() const;

  std::atomic<std::int32_t> phase{TITAN_IN_START};
  std::atomic<std::int64_t> step{0};
  std::atomic<std::int32_t> micro_batch{-1};
  std::atomic<std::uint32_t> stage{0};
  std::atomic<std::uint32_t> module{0};
  /// The innermost phase that an exception has ended since the last one began, and its micro-batch; -1: none.
  std::atomic<std::int32_t> failed_phase{-1}, failed_micro_batch{-1};

  /// Seconds that all ranks were held while this one's training thread was in a phase; who takes them sets them to 0.
  /// Training thread.
  double held_seconds = 0;

  /// What happens at the begin and end of phases; set while nobody is in one. Called on the training thread.
  std::function<void(const titan_span_event& event)> on_span;

 private:
  std::vector<std::string> names_;
  std::atomic<bool> is_named_{false};
};

/// "forward", "optimizer"; "nowhere" for a number that is no TITAN_IN_*.
std::string_view phase_name(std::int32_t phase);

/// The calling thread's rank, or null.
Position* current_position();

/// Makes a rank's position the calling thread's, for a scope.
class PositionScope {
 public:
  explicit PositionScope(Position* position);
  ~PositionScope();
  PositionScope(const PositionScope&) = delete;
  PositionScope& operator=(const PositionScope&) = delete;

 private:
  Position* before_;
};

/// A phase of the calling thread's rank, while it lives: sets the position and tells whoever listens. Where an
/// exception ends it, that is remembered for those who write down where the rank failed. Without a rank nothing.
class PhaseScope {
 public:
  /// `micro_batch` and `stage` where the phase has them.
  explicit PhaseScope(std::int32_t phase, std::int32_t micro_batch = -1, std::uint32_t stage = 0);
  ~PhaseScope();
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;
  /// What was loaded or saved, for the end.
  void set_detail(std::string detail) { detail_ = std::move(detail); }

 private:
  void tell(bool is_end) const;

  Position* position_;
  int num_exceptions_;  // under way when it began
  std::int32_t phase_before_ = TITAN_IN_START, micro_batch_before_ = -1;
  std::uint32_t stage_before_ = 0;
  std::int32_t phase_;
  std::string detail_;
};

}  // namespace titan
