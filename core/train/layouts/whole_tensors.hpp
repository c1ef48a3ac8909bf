#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// A tensor of a parameter in the parts that ranks hold.
struct PartedTensor {
  struct Part {
    std::int64_t rank;
    nn::Box box;
    at::Tensor values;
  };
  std::vector<std::int64_t> shape;
  std::vector<Part> parts;  // in order of rank

  /// The whole tensor; where several ranks hold an element, the last one's.
  at::Tensor whole() const;
  /// Whether every element is held by a rank, and the same bits by all that hold it.
  bool is_complete() const;
  bool is_consistent() const;
};

/// A box of a tensor of the whole parameter.
at::Tensor part_of(at::Tensor whole, const nn::Box& box);

/// Collects tensors of whole parameters from the parts of all ranks. Any thread may add.
class WholeTensors {
 public:
  /// Adds copies of a form of every parameter of a rank: the storage, or the gradient. A tensor that is not there, or
  /// not of the parameter's part, is left out.
  void add(std::int64_t rank, const nn::Tree& tree, at::Tensor nn::Parameter::*form);

  /// Adds copies of the buffers of a rank that checkpoints hold; every rank has all of one.
  void add_buffers(std::int64_t rank, const nn::Tree& tree);

  /// By name of the parameter or buffer. Call when all ranks have added.
  std::map<std::string, PartedTensor> take();

 private:
  std::mutex mutex_;
  std::map<std::string, PartedTensor> tensors_;
};

}  // namespace titan::train
