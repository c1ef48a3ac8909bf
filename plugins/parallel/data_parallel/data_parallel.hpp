#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/parallel/data_parallel/unit.hpp"
#include "plugins/parallel/data_parallel/unused_parameters.hpp"
#include "plugins/parallel/part.hpp"

namespace titan::parallel {

/// When a unit lets go of its gathered parameters after its forward: always, never, or for all units but the last one,
/// whose backward comes at once.
enum class Reshard { by_default, always, never };

/// Reads the value of parallelism.fsdp_reshard_after_forward.
Reshard reshard_policy(std::string_view text);

struct Options {
  Reshard reshard = Reshard::by_default;
  /// Elements of replicated gradients that are worth a collective of their own: 25 MiB of float32.
  std::int64_t bucket_elements = 25 * 1024 * 1024 / 4;
  /// Full names of the parameters of experts that are spread over ranks.
  std::set<std::string> expert_parameters = {};
  /// Of the pipeline, on this rank; empty: the whole chain is one.
  std::vector<titan_stage> stages = {};
};

/// Data parallelism of one rank: FSDP over the group "fsdp", replicas over "dp_replicate", and buckets of replicated
/// gradients where nothing is sharded. Lives in the interceptors, and so as long as the tree.
class DataParallel : public Part, public std::enable_shared_from_this<DataParallel> {
 public:
  /// Places the parameters and attaches the interceptors. Null, with nothing attached, when there is one data rank.
  static std::shared_ptr<DataParallel> apply(const strategy::Tree& tree, strategy::Mesh mesh, const Options& options);

  /// After the parameters exist, or were changed by others than the optimizer.
  void materialised() override;
  void micro_batch_begin(const titan_micro_batch& micro_batch) override;
  void backward_begin(const titan_micro_batch& micro_batch) override;
  /// Reduces what backward has not, and waits for everything under way.
  void micro_batch_end(const titan_micro_batch& micro_batch) override;
  /// After the optimizer.
  void updated() override;
  /// Forgets the step so far, micro-batches on their way too.
  void discard() override;

  /// "HSDP: 2 replicas of 4 shards, 11 units": for the log.
  const std::string& description() const { return description_; }

 private:
  struct Slot {
    strategy::Module module;
    std::unique_ptr<Unit> unit;
    bool is_shared = false;   // gathered until no micro-batch is on its way: others use it in between
    std::uint32_t stage = 0;  // by its index in the model
    std::size_t next_in_backward = 0;
  };
  enum class Phase { idle, forwarded, in_backward, reduced };
  /// A micro-batch between its begin and its end in a stage. In a pipeline several are on their way at a time.
  struct Flight {
    struct UnitState {
      Phase phase = Phase::idle;
      std::size_t open_inputs = 0;  // whose gradients are still to come
    };
    bool training = false, is_last = false;
    std::vector<UnitState> units;  // by slot
  };
  using FlightPointer = std::shared_ptr<Flight>;
  class OpenInput;
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // stage, micro-batch

  explicit DataParallel(const strategy::Tree& tree) : tree_(tree) {}
  void build_sharded(std::vector<UnitPlan>& plans, strategy::Mesh mesh);
  void build_replicated(std::vector<UnitPlan>& plans, strategy::Mesh mesh, std::int64_t bucket_elements);
  void order_backward();
  void attach_all();

  strategy::Tensors around(std::size_t index, strategy::Frame& frame, strategy::Next next, strategy::Inputs in);
  strategy::Tensors watched(const FlightPointer& flight, std::size_t index, strategy::Inputs in);
  void watch_output(const FlightPointer& flight, std::size_t index, strategy::Inputs inputs, at::Tensor& output);
  bool is_pipelined() const { return !options_.stages.empty(); }
  std::uint32_t stage_of(const strategy::Module& module) const;
  bool is_neighbour(std::size_t index, std::size_t other) const;
  std::size_t enclosing(std::size_t index) const;
  bool keeps_after_forward(std::size_t index) const;
  void hold(std::uint32_t stage, bool on);
  void hold_shared(bool on);
  void before_backward(Flight& flight, std::size_t index);
  void input_done(Flight& flight, std::size_t index);
  void after_backward(Flight& flight, std::size_t index);
  void end_step(std::uint32_t stage);
  void settle();
  void abandon();

  strategy::Tree tree_;
  Options options_;
  std::string description_;
  std::vector<Slot> slots_;  // in order of execution
  std::map<Place, FlightPointer> flights_;
  FlightPointer current_;                                 // whose forward or backward runs
  std::optional<std::pair<std::size_t, bool>> reducing_;  // whose reduction is under way, and whether it is the last
  std::optional<UnusedParameters> unused_;                // until the first step is done
  std::size_t ended_stages_ = 0;                          // of the first step
};

}  // namespace titan::parallel
