#pragma once

#include <cstddef>
#include <span>

#include "core/app/checkpoint/difference.hpp"
#include "core/checkpoint/dtype.hpp"

namespace titan::app {

/// Elements of a tensor that follow each other.
struct Elements {
  std::span<const std::byte> bytes;
  checkpoint::DType dtype = checkpoint::DType::f32;
};

/// Gathers what differs in one tensor, piece by piece. Values are compared exactly: whole numbers of 64 bits, too.
class TensorComparison {
 public:
  /// Takes the same elements of both.
  void add(const Elements& a, const Elements& b);
  /// What was found, without a name.
  TensorDifference finish() const;

 private:
  void compare(const Elements& a, const Elements& b);
  void note(long double a, long double b);

  std::int64_t num_differing_ = 0;
  long double absolute_ = 0;
  long double largest_ = 0;  // of b, where it is finite
};

}  // namespace titan::app
