#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  /// Reduces what backward has not, and waits for everything under way.
  void micro_batch_end(const titan_micro_batch& micro_batch) override;
  /// After the optimizer.
  void updated() override;

  /// "HSDP: 2 replicas of 4 shards, 11 units": for the log.
  const std::string& description() const { return description_; }

 private:
  enum class Phase { idle, forwarded, reduced };
  struct Slot {
    strategy::Module module;
    std::unique_ptr<Unit> unit;
    Phase phase = Phase::idle;
    std::size_t open_inputs = 0;  // whose gradients are still to come
  };

  explicit DataParallel(const strategy::Tree& tree) : tree_(tree) {}
  void build_sharded(std::vector<UnitPlan>& plans, strategy::Mesh mesh);
  void build_replicated(std::vector<UnitPlan>& plans, strategy::Mesh mesh, std::int64_t bucket_elements);
  void attach_all();

  strategy::Tensors around(std::size_t index, strategy::Frame& frame, strategy::Next next, strategy::Inputs in);
  strategy::Tensors watched(std::size_t index, strategy::Inputs in);
  bool keeps_after_forward(std::size_t index) const;
  void before_backward(std::size_t index);
  void input_done(std::size_t index);
  void after_backward(std::size_t index);
  void settle();
  void abandon();

  strategy::Tree tree_;
  Options options_;
  std::string description_;
  std::vector<Slot> slots_;                 // in order of execution
  std::optional<std::size_t> reducing_;     // whose reduction is under way
  std::optional<UnusedParameters> unused_;  // until the first step is done
  bool open_ = false;                       // a micro-batch has begun and not ended
  bool training_ = false, is_last_ = false;
};

}  // namespace titan::parallel
