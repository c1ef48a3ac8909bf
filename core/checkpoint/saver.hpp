#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/step_folders.hpp"
#include "core/checkpoint/team.hpp"

namespace titan::checkpoint {

/// One step to save, as one rank sees it.
struct SaveRequest {
  std::int64_t step = 0;
  std::vector<HeldPart> parts;  // those that this rank writes
  std::optional<DType> export_dtype;
  Contents contents = Contents::full;
  std::vector<ExtraFile> extra;  // of rank 0: the train state
};

/// How a save ended.
struct SaveResult {
  std::int64_t step = 0;
  std::uint64_t bytes = 0;  // of this rank's shard
  double seconds = 0;       // from save() to the commit
  double stall = 0;         // of these, seconds in which the training thread waited
};

/// Saves steps of a run, all ranks together. Used on the training thread; its background thread makes no collective
/// calls, so saving and training never mix their order. A save goes through these states, which the ranks agree on at
/// each poll(): every rank writes its shard; when all have, rank 0's background thread publishes, and retains.
class Saver {
 public:
  struct Options {
    std::filesystem::path folder;  // of the checkpoints
    bool is_async = false;
    std::int64_t keep_latest_k = 10;     // 0: all
    std::optional<std::int64_t> loaded;  // the step that the run began with, if it is of this folder
    std::function<Origin()> origin;      // of the run; asked on rank 0
    std::string run_id;                  // names the folder of abandoned steps; empty: the save does
  };

  /// Rank 0 makes the folder and sweeps it. CreateError on all ranks.
  Saver(Team& team, SystemCalls& calls, Options options);
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// Bytes of host memory that saves of these parts need beside the tensors: 0 unless asynchronous. Makes it ready.
  std::uint64_t prepare(std::span<const HeldPart> parts);

  /// Begins a save; a former one is waited for. Synchronous: returns when the step is committed. Asynchronous: returns
  /// when the parts are copied. A collective call. CreateError or IoError, on all ranks with the text of the first that
  /// failed; nothing of that step is left then.
  void save(const SaveRequest& request);
  /// Agrees on how far a save is: the result once it is committed, nothing while there is none or it goes on. A
  /// collective call, at a step's boundary. Errors as save().
  std::optional<SaveResult> poll();
  /// Waits until there is no save under way. The same errors.
  std::optional<SaveResult> finish();
  /// Whether a save is under way; the same on all ranks.
  bool is_saving() const;
  /// The newest step that this object committed.
  std::optional<std::int64_t> last_committed() const;
  /// How long the last save took; none before the first.
  std::optional<SaveResult> last_result() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titan::checkpoint
