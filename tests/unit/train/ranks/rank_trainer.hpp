#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/train/ranks/ranks.hpp"
#include "core/train/ranks/strategies.hpp"
#include "core/train/trainer.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train::tiny {

/// A strategy that sums all gradients over the world at a step's end, and writes down what it is told.
class SummingStrategy {
 public:
  explicit SummingStrategy(std::int32_t priority = 0);
  PluginInterface<titan_strategy_v1> plugin(std::string name = "sums");

  std::vector<std::string> seen;  // "validate", "apply", "begin 0", "end 1 last", "begin 0 forward", "updated"
  titan_mesh_facts mesh{};
  std::string fail_at;    // the entry of `seen` that is answered by an error
  bool does_sum = true;   // else it only says so
  bool does_mark = true;  // else it sums and does not say so

 private:
  titan_error* note(std::string what);
  titan_error* end(const titan_micro_batch& micro_batch);
  void reduce();

  nn::Tree* tree_ = nullptr;
  comm::Communicator* ranks_ = nullptr;
  titan_strategy_v1 table_{};
};

/// One of several ranks: a tiny model in float64 with its trainer and a summing strategy.
struct RankTrainer {
  RankTrainer(comm::Communicator& communicator, std::vector<data::Batch> batches, Trainer::Options options = {},
              const StopFlag* stop = nullptr);

  SummingStrategy strategy;
  Ranks ranks;
  Strategies strategies;
  nn::Tree tree;
  ListSource source;
  std::unique_ptr<Trainer> trainer;
};

/// How a rank ended: the code main would give, and the message.
struct RankEnd {
  std::int32_t code = 0;
  std::string message;
};

/// Runs the body as each of `ranks` ranks along dp_replicate, and returns how each ended, by rank. A rank that throws
/// is gone for the others: what still needs it fails with another error than its.
std::vector<RankEnd> ends_of(std::int64_t ranks, const std::function<void(comm::Communicator&)>& body);

}  // namespace titan::train::tiny
