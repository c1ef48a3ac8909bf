#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "plugins/parallel/data_parallel/flat_layout.hpp"
#include "plugins/parallel/data_parallel/gathered_parameters.hpp"
#include "plugins/parallel/data_parallel/gradient_bucket.hpp"
#include "plugins/parallel/data_parallel/sharded_gradients.hpp"
#include "plugins/parallel/data_parallel/unit_plan.hpp"

namespace titan::parallel {

/// What has to be done for the parameters of one unit around its forward and its backward.
class Unit {
 public:
  Unit() = default;
  virtual ~Unit() = default;
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  virtual void materialise(const strategy::Precision& precision) = 0;
  /// Starts to bring the parameters.
  virtual void prefetch() {}
  /// Returns when the parameters are here.
  virtual void gather() {}
  /// Lets go of the parameters, unless they are held.
  virtual void release() {}
  /// Keeps the parameters from now on, or no longer.
  virtual void hold(bool /*on*/) {}
  /// Takes the gradients that a micro-batch's backward left, and starts their reduction.
  virtual void reduce(bool is_last) = 0;
  /// Ends the micro-batch's reduction; after the step's last micro-batch starts the sum over the replicas.
  virtual void settle(bool /*is_last*/) {}
  /// Waits for the sum over the replicas.
  virtual void finish() = 0;
  /// Forgets the gradients, after the optimizer.
  virtual void clear() = 0;
  /// Gives up what is under way, after a failure.
  virtual void abandon() = 0;
};

/// A unit whose parameters are cut along dim 0 over the plan's group, and replicated over "dp_replicate".
class ShardedUnit : public Unit {
 public:
  /// Shards the parameters and takes over their forms.
  ShardedUnit(const UnitPlan& plan, strategy::Mesh mesh);

  void materialise(const strategy::Precision& precision) override;
  void prefetch() override { parameters_.start(); }
  void gather() override { parameters_.finish(); }
  void release() override { parameters_.release(); }
  void hold(bool on) override { parameters_.hold(on); }
  void reduce(bool /*is_last*/) override { gradients_.start(parameters_.tensors()); }
  void settle(bool is_last) override { gradients_.settle(is_last); }
  void finish() override { gradients_.finish(); }
  void clear() override { gradients_.clear(); }
  void abandon() override;

 private:
  FlatLayout layout_;
  GatheredParameters parameters_;
  ShardedGradients gradients_;
};

/// A unit whose parameters every rank has; its gradients share a bucket with its neighbours'.
class ReplicatedUnit : public Unit {
 public:
  ReplicatedUnit(const UnitPlan& plan, std::shared_ptr<GradientBucket> bucket);

  void materialise(const strategy::Precision& precision) override { bucket_->materialise(precision); }
  void reduce(bool is_last) override { bucket_->collect(number_, is_last); }
  void finish() override { bucket_->finish(); }
  void clear() override { bucket_->clear(); }
  void abandon() override { bucket_->abandon(); }

 private:
  std::shared_ptr<GradientBucket> bucket_;
  std::size_t number_;
};

}  // namespace titan::parallel
