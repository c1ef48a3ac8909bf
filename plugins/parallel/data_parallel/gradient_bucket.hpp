#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/parallel/data_parallel/flat_layout.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// The gradients of replicated parameters of one or several units, in one buffer: micro-batches are added up here, and
/// the step's sum is summed over the replicas by one collective, as soon as its last unit is done.
class GradientBucket {
 public:
  explicit GradientBucket(strategy::Mesh mesh) : mesh_(mesh), replicas_(mesh.group("dp_replicate")) {}

  /// Adds a unit's parameters, before materialise(). Returns the unit's number in the bucket.
  std::size_t add_unit(const std::string& module, const std::vector<strategy::Parameter>& parameters);
  std::int64_t num_elements() const;

  void materialise(const strategy::Precision& precision);
  /// Takes the gradients that backward left at the unit's parameters and adds them up. With the last unit of the step's
  /// last micro-batch the sum over the replicas starts.
  void collect(std::size_t unit, bool is_last);
  /// Waits for the sum over the replicas.
  void finish();
  /// Forgets the sums.
  void clear();
  /// Gives up what is under way.
  void abandon();

 private:
  struct Unit {
    std::size_t first, count;  // its parameters
    bool has_sum = false;
  };
  void add(std::size_t index, bool has_sum);
  void publish();

  strategy::Mesh mesh_;
  strategy::Group replicas_;
  std::string module_;  // the unit that was added last: it completes the bucket
  std::vector<strategy::Parameter> parameters_;
  std::vector<Shape> shapes_;
  std::vector<FlatLayout> layout_;  // of all parameters; one, once materialised
  std::vector<at::Tensor> tensors_;
  std::vector<Unit> units_;
  at::ScalarType dtype_ = at::kFloat;
  at::Tensor sum_;             // memory of the gradient boxes
  std::size_t collected_ = 0;  // units of the running micro-batch
  strategy::Work work_;
};

}  // namespace titan::parallel
