#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/options.hpp"
#include "core/checkpoint/saver.hpp"
#include "core/train/checkpoint/load.hpp"
#include "core/train/checkpoint/rank_team.hpp"
#include "core/train/checkpoint/state_tensors.hpp"
#include "core/train/trainer.hpp"

namespace titan::train {

/// What a checkpointer takes from its run; all of it outlives the checkpointer.
struct CheckpointParts {
  nn::Tree& tree;
  Trainer& trainer;
  Ranks& ranks;
  std::function<std::vector<checkpoint::HubName>()> hub_names;  // of the model; asked where they are needed
  checkpoint::Origin origin;
  std::int64_t last_step = 0;  // of the run
};

/// Decides when a run saves, and what. Used on the training thread; all calls are collective.
class Checkpointer {
 public:
  /// Makes the folder, and says how much a save needs, on disk and beside the tensors. CreateError.
  Checkpointer(const checkpoint::Options& options, CheckpointParts parts, const Loaded& loaded);
  ~Checkpointer();

  /// Hears of a finished step: saves if one is due, and agrees on how far an asynchronous save is. Errors as
  /// checkpoint::Saver.
  void step_end(std::int64_t step, bool is_last);
  /// Saves the last step as the options want it, or all of the state where the run ends too early; a step that is saved
  /// already stays as it is. Then waits for what is under way.
  void run_end(bool is_early = false);
  /// Waits for what is under way.
  void finish();
  /// Saves all of the state after an agreed stop, unless this step is saved already. Returns the folder of the step:
  /// none when there is nothing to go on from, as no step was done.
  std::optional<std::filesystem::path> stop();
  /// How the user goes on after stop().
  std::string continuation() const;
  /// Saves the initial weights as step 0.
  void save_seed();

 private:
  void save(std::int64_t step, checkpoint::Contents contents, bool is_export);
  void save_for_hub(std::int64_t step);
  bool is_saved(std::int64_t step) const;
  std::string train_state();
  bool is_due(std::int64_t step) const;
  void check_way() const;
  void report_needs();

  checkpoint::Options options_;
  CheckpointParts parts_;
  RankTeam team_;
  std::optional<std::int64_t> loaded_step_;
  std::vector<StateTensor> tensors_;  // of the model and the optimizer
  std::optional<WriterPlan> plan_;
  std::unique_ptr<checkpoint::Saver> saver_;
};

}  // namespace titan::train
