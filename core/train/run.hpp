#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/position.hpp"
#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/checkpoint/load.hpp"
#include "core/train/control.hpp"
#include "core/train/dump_on_request.hpp"
#include "core/train/guards.hpp"
#include "core/train/nondeterminism.hpp"
#include "core/train/observers.hpp"
#include "core/train/pipeline/pipeline.hpp"
#include "core/train/ranks/ranks.hpp"
#include "core/train/ranks/strategies.hpp"
#include "core/train/run_options.hpp"
#include "core/train/trainer.hpp"
#include "core/train/validator.hpp"

namespace titan::train {

/// Puts something between the training data and the trainer.
using WrapSource = std::function<std::unique_ptr<BatchSource>(std::unique_ptr<BatchSource>)>;

/// Everything one rank trains with. Made and used on one thread, the rank's training thread; ranks of one run may be
/// threads of one process. Leaves the settings of the process as they are: train() in session.hpp makes those.
class Run {
 public:
  /// Checks the options, joins the other ranks, compares what must be equal on all of them, opens the data, builds the
  /// model, lets strategies place it, and makes this rank's parameters. `run` and what it points to must outlive the
  /// object; then loads a checkpoint, if it is to begin from one. A rehearsal (EngineRun::has_values is false) opens
  /// nothing: `wrap` gives its batches. Throws titan::Error, c10::Error and Interrupted; the
  /// other ranks are told.
  explicit Run(const EngineRun& run, const WrapSource& wrap = {});
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  nn::Tree& tree() { return tree_; }
  Trainer& trainer() { return *trainer_; }
  const Position& position() const { return position_; }
  const config::Sizes& sizes() const { return options_.sizes; }
  comm::Communicator& ranks() { return ranks_->communicator(); }
  /// Null where each rank runs the whole chain.
  const Pipeline* pipeline() const { return pipeline_ ? &*pipeline_ : nullptr; }
  Validator* validator() { return validator_.get(); }

  /// Trains to the end, telling the observers and saving checkpoints; or saves a seed checkpoint. Throws as the
  /// constructor.
  void train();

 private:
  /// What the communicator asks of this run and tells it, for as long as the object lives: the communicator may be
  /// somebody else's, who keeps it.
  class Watch {
   public:
    explicit Watch(Run& run);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Run& run_;
  };

  void prepare(const WrapSource& wrap);
  void join();
  /// Opens the training data; its tokenizer.
  std::shared_ptr<const data::Tokenizer> open_data();
  /// [any thread] Says where this rank is, and has it written down.
  void dump_on_request();
  void make_tree();
  void plan_stages();
  void make_pipeline();
  void make_trainer(optim::LrSchedule schedule);
  void load();
  std::vector<checkpoint::HubName> hub_names() const;
  void train_or_save_seed();
  /// Throws the exception being handled, after telling the others.
  [[noreturn]] void fail();

  const EngineRun& run_;
  RunOptions options_;
  titan_model_facts facts_{};
  Position position_;
  PositionScope here_{&position_};
  Observers observers_;
  Guards guards_;
  Strategies strategies_;
  std::optional<Ranks> ranks_;
  nn::Tree tree_;
  Control control_;
  std::unique_ptr<BatchSource> source_;
  std::optional<NondeterminismWatch> nondeterminism_;
  PipelineTables tables_;  // until there is a pipeline
  std::optional<Pipeline> pipeline_;
  std::unique_ptr<Validator> validator_;
  std::optional<Trainer> trainer_;
  Loaded loaded_;
  pid_t training_thread_;
  std::optional<Watch> watch_;
  std::optional<DumpOnRequest> dumper_;  // last: its thread looks at the rest
};

}  // namespace titan::train
