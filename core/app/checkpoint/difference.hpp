#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/source.hpp"

namespace titan::app {

/// How two tensors of one name and shape differ.
struct TensorDifference {
  std::string name;
  std::int64_t num_differing = 0;  // elements that are not bit-equal, or of another value where the dtypes differ
  double absolute = 0;             // max |a - b|; infinite where one has a value that is no finite number
  double relative = 0;             // max |a - b| / max |b|
};

/// How two checkpoints differ.
struct Difference {
  std::vector<std::string> only_a, only_b;
  std::vector<std::string> shapes, dtypes;  // "layers.0.w1.weight: [2, 3] and [3, 2]"
  std::vector<TensorDifference> values;     // worst first
  std::size_t num_compared = 0;             // tensors
  std::uint64_t num_bytes = 0;              // of these, in A

  /// Whether all is the same; with a tolerance dtypes may differ, and values by so much of the largest of their tensor.
  bool is_equal(std::optional<double> tolerance) const;
};

/// Compares all tensors, a few mebibytes at a time. Errors as read_parts().
Difference compare_checkpoints(const checkpoint::Source& a, const checkpoint::Source& b,
                               const std::function<void(std::uint64_t done, std::uint64_t total)>& progress);

/// Writes the difference for a person: the worst 20 of each kind.
std::string difference_text(const Difference& difference);
/// One line, without a full stop: "2 tensors only in A, 1 of another value".
std::string difference_summary(const Difference& difference, std::optional<double> tolerance);

}  // namespace titan::app
