#include "core/app/checkpoint/difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "core/app/checkpoint/tensor_facts.hpp"
#include "core/base/text.hpp"
#include "core/checkpoint/read.hpp"

namespace titan::app {
namespace {

using checkpoint::DType;
using checkpoint::Source;
using checkpoint::StoredTensor;

constexpr std::uint64_t kPieceBytes = std::uint64_t{32} << 20U;

using Bytes = std::vector<std::byte>;

void read_box(const Source& source, const std::string& name, const Box& box, Bytes& bytes) {
  const StoredTensor& stored = source.tensors.at(name);
  bytes.resize(static_cast<std::size_t>(checkpoint::num_elements(box.size)) * checkpoint::element_size(stored.dtype));
  const checkpoint::WantedPart wanted{{name, stored.dtype, stored.shape}, box, bytes.data()};
  checkpoint::read_parts(source, {&wanted, 1});
}

template <class Element>
void append_as_doubles(const Bytes& bytes, std::vector<double>& values) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, bytes.data() + at, sizeof element);
    values.push_back(static_cast<double>(element));
  }
}

std::vector<double> as_doubles(const Bytes& bytes, DType dtype) {
  std::vector<double> values;
  if (checkpoint::is_floating(dtype)) {
    values.resize(bytes.size() / checkpoint::element_size(dtype));
    checkpoint::convert(bytes, dtype, std::as_writable_bytes(std::span(values)), DType::f64);
    return values;
  }
  values.reserve(bytes.size() / checkpoint::element_size(dtype));
  switch (dtype) {
    case DType::i64:
      append_as_doubles<std::int64_t>(bytes, values);
      break;
    case DType::i32:
      append_as_doubles<std::int32_t>(bytes, values);
      break;
    case DType::i16:
      append_as_doubles<std::int16_t>(bytes, values);
      break;
    case DType::i8:
      append_as_doubles<std::int8_t>(bytes, values);
      break;
    default:
      append_as_doubles<std::uint8_t>(bytes, values);
  }
  return values;
}

/// Gathers what differs in one tensor, piece by piece.
class TensorComparison {
 public:
  explicit TensorComparison(const std::string& name) { difference_.name = name; }

  void add(const Bytes& a, DType a_dtype, const Bytes& b, DType b_dtype) {
    const bool same_type = a_dtype == b_dtype;
    const std::vector<double> b_values = as_doubles(b, b_dtype);
    for (const double value : b_values) {
      if (std::isfinite(value)) largest_ = std::max(largest_, std::abs(value));
    }
    if (same_type && a == b) return;
    const std::vector<double> a_values = as_doubles(a, a_dtype);
    const std::size_t size = checkpoint::element_size(a_dtype);
    for (std::size_t i = 0; i < a_values.size(); ++i) {
      const bool is_equal = same_type ? std::memcmp(a.data() + i * size, b.data() + i * size, size) == 0
                                      : is_same_value(a_values[i], b_values[i]);
      if (!is_equal) note(a_values[i], b_values[i]);
    }
  }

  TensorDifference finish() {
    const bool has_scale = largest_ > 0 && std::isfinite(difference_.absolute);
    difference_.relative = has_scale ? difference_.absolute / largest_ : difference_.absolute;
    if (difference_.absolute > 0 && largest_ == 0) difference_.relative = std::numeric_limits<double>::infinity();
    return difference_;
  }

 private:
  static bool is_same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

  void note(double a, double b) {
    ++difference_.num_differing;
    if (is_same_value(a, b)) return;  // zeros of two signs, or numbers that are none
    const double gap = std::abs(a - b);
    difference_.absolute =
        std::max(difference_.absolute, std::isnan(gap) ? std::numeric_limits<double>::infinity() : gap);
  }

  TensorDifference difference_;
  double largest_ = 0;  // of b
};

/// One comparison of two checkpoints.
class CheckpointComparison {
 public:
  CheckpointComparison(const Source& a, const Source& b) : a_(a), b_(b) {}

  Difference run(const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
    const std::vector<std::string> common = compare_structure();
    std::uint64_t done = 0;
    for (const std::string& name : common) {
      const auto told = [&](std::uint64_t bytes) { progress(done + bytes, difference_.num_bytes); };
      // Most tensors of most pairs are equal: their values need not be looked at.
      if (!is_bit_equal(name, told)) {
        const TensorDifference found = compare_values(name, told);
        if (found.num_differing > 0) difference_.values.push_back(found);
      }
      done += bytes_of(a_.tensors.at(name));
    }
    std::ranges::sort(difference_.values, [](const TensorDifference& x, const TensorDifference& y) {
      return x.relative != y.relative ? x.relative > y.relative : x.name < y.name;
    });
    return std::move(difference_);
  }

 private:
  /// Says what differs besides values, and which tensors can be compared.
  std::vector<std::string> compare_structure() {
    std::vector<std::string> common;
    for (const auto& [name, of_a] : a_.tensors) {
      const auto found = b_.tensors.find(name);
      if (found == b_.tensors.end()) {
        difference_.only_a.push_back(name);
        continue;
      }
      const StoredTensor& of_b = found->second;
      if (of_a.shape != of_b.shape) {
        difference_.shapes.push_back(concat(name, ": ", shape_text(of_a.shape), " and ", shape_text(of_b.shape)));
        continue;
      }
      if (of_a.dtype != of_b.dtype) {
        difference_.dtypes.push_back(
            concat(name, ": ", checkpoint::torch_name(of_a.dtype), " and ", checkpoint::torch_name(of_b.dtype)));
      }
      common.push_back(name);
      difference_.num_bytes += bytes_of(of_a);
    }
    for (const auto& [name, of_b] : b_.tensors) {
      if (!a_.tensors.contains(name)) difference_.only_b.push_back(name);
    }
    difference_.num_compared = common.size();
    return common;
  }

  static std::vector<Box> pieces_of(const StoredTensor& tensor) {
    return cut(tensor.shape, checkpoint::element_size(tensor.dtype), kPieceBytes);
  }

  void read(const std::string& name, const Box& box) {
    read_box(a_, name, box, a_bytes_);
    read_box(b_, name, box, b_bytes_);
  }

  template <class Told>
  bool is_bit_equal(const std::string& name, const Told& told) {
    const StoredTensor &of_a = a_.tensors.at(name), &of_b = b_.tensors.at(name);
    if (of_a.dtype != of_b.dtype) return false;
    std::uint64_t done = 0;
    for (const Box& box : pieces_of(of_a)) {
      read(name, box);
      if (std::memcmp(a_bytes_.data(), b_bytes_.data(), a_bytes_.size()) != 0) return false;
      told(done += a_bytes_.size());
    }
    return true;
  }

  template <class Told>
  TensorDifference compare_values(const std::string& name, const Told& told) {
    const StoredTensor &of_a = a_.tensors.at(name), &of_b = b_.tensors.at(name);
    TensorComparison comparison(name);
    std::uint64_t done = 0;
    for (const Box& box : pieces_of(of_a)) {
      read(name, box);
      comparison.add(a_bytes_, of_a.dtype, b_bytes_, of_b.dtype);
      told(done += a_bytes_.size());
    }
    return comparison.finish();
  }

  const Source& a_;
  const Source& b_;
  Bytes a_bytes_, b_bytes_;  // of one piece
  Difference difference_;
};

}  // namespace

bool Difference::is_equal(std::optional<double> tolerance) const {
  if (!only_a.empty() || !only_b.empty() || !shapes.empty()) return false;
  if (!tolerance) return dtypes.empty() && values.empty();
  return std::ranges::all_of(values, [&](const TensorDifference& value) { return value.relative <= *tolerance; });
}

Difference compare_checkpoints(const Source& a, const Source& b,
                               const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  return CheckpointComparison(a, b).run(progress);
}

}  // namespace titan::app
