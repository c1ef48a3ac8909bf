#include "core/train/layouts/explanation.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/text.hpp"

namespace titan::train {
namespace {

using config::Axis;
using Part = PartedTensor::Part;

/// Whether the ranks differ on the axis and on no other.
bool differ_along(const config::Mesh& mesh, std::int64_t a, std::int64_t b, Axis axis) {
  for (const Axis other : config::kAxes) {
    const bool differs = mesh.coordinate(a, other) != mesh.coordinate(b, other);
    if (differs != (other == axis)) return false;
  }
  return true;
}

bool is_same_box(const nn::Box& a, const nn::Box& b) { return a.offset == b.offset && a.size == b.size; }

/// The parts of the ranks that stand beside a part's rank on the axis, itself included, and hold the same box.
std::vector<const Part*> replicas(const PartedTensor& tensor, const Part& part, const config::Mesh& mesh, Axis axis) {
  std::vector<const Part*> found{&part};
  for (const Part& other : tensor.parts) {
    if (differ_along(mesh, part.rank, other.rank, axis) && is_same_box(part.box, other.box)) found.push_back(&other);
  }
  return found;
}

std::string explain_replicas(const PartedTensor& tensor, const at::Tensor& reference, const config::Mesh& mesh,
                             double tolerance) {
  for (const Axis axis : config::kAxes) {
    for (const Part& part : tensor.parts) {
      at::Tensor sum = at::zeros_like(part.values, at::kDouble);
      bool differs = false;
      for (const Part* replica : replicas(tensor, part, mesh, axis)) {
        sum += replica->values.to(at::kDouble);
        differs = differs || !replica->values.equal(part.values);
      }
      if (!differs) continue;
      const bool is_summand = relative_difference(sum, part_of(reference, part.box)) <= tolerance;
      return is_summand ? concat("ranks along ", name(axis), " hold summands: missing reduction over ", name(axis))
                        : concat("ranks along ", name(axis), " should hold the same and do not");
    }
  }
  return {};
}

/// The one factor between all elements of two tensors, if there is one.
std::optional<double> common_factor(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  const at::Tensor x = a.to(at::kDouble).flatten(), y = b.to(at::kDouble).flatten();
  const double factor = x.dot(y).item<double>() / y.dot(y).item<double>();
  if (!std::isfinite(factor) || factor == 0) return std::nullopt;
  if (relative_difference(x / factor, y) > tolerance) return std::nullopt;
  return factor;
}

/// Sets of axes whose degrees multiply to `product`: "tp", "cp or tp", "dp_shard x cp".
std::string axes_of_degree(const config::Mesh& mesh, double product) {
  std::string found;
  for (unsigned set = 1; set < 1U << config::kNumAxes; ++set) {
    double degrees = 1;
    std::string names;
    for (const Axis axis : config::kAxes) {
      if ((set >> static_cast<unsigned>(axis) & 1U) == 0) continue;
      // An axis of one rank explains nothing.
      degrees *= mesh.degree(axis) > 1 ? static_cast<double>(mesh.degree(axis)) : 0;
      names += concat(names.empty() ? "" : " x ", name(axis));
    }
    if (std::abs(degrees - product) < 1e-3 * product) found += concat(found.empty() ? "" : " or ", names);
  }
  // Experts are spread over ranks that other axes have too.
  const auto experts = static_cast<double>(mesh.expert_degree());
  if (experts > 1 && std::abs(experts - product) < 1e-3 * product) found += concat(found.empty() ? "" : " or ", "ep");
  return found;
}

std::string explain_factor(const PartedTensor& tensor, const at::Tensor& reference, const config::Mesh& mesh,
                           double tolerance) {
  const std::optional<double> factor = common_factor(tensor.whole(), reference, tolerance);
  if (!factor) return {};
  if (const std::string axes = axes_of_degree(mesh, *factor); !axes.empty()) {
    return concat("x ", std::round(*factor), " = ", axes, ": summed twice?");
  }
  if (const std::string axes = axes_of_degree(mesh, 1 / *factor); !axes.empty()) {
    return concat("x 1/", std::round(1 / *factor), " = 1/", axes, ": averaged, or a missing reduction?");
  }
  return concat("x ", static_cast<float>(*factor), ", which is no degree of the layout");
}

std::string axis_between(const config::Mesh& mesh, std::int64_t a, std::int64_t b) {
  std::string found;
  for (const Axis axis : config::kAxes) {
    if (differ_along(mesh, a, b, axis)) found = concat(" along ", name(axis));
  }
  const bool shares_experts = mesh.expert_degree() > 1 && std::ranges::count(mesh.members("ep", a), b) != 0;
  return shares_experts ? concat(found, found.empty() ? " along ep" : " or ep") : found;
}

std::string explain_offset(const PartedTensor& tensor, const at::Tensor& reference, const config::Mesh& mesh,
                           double tolerance) {
  for (const Part& part : tensor.parts) {
    if (part.values.numel() == 0) continue;
    if (relative_difference(part.values, part_of(reference, part.box)) <= tolerance) continue;
    for (const Part& other : tensor.parts) {
      if (is_same_box(part.box, other.box) || part.box.size != other.box.size) continue;
      if (relative_difference(part.values, part_of(reference, other.box)) > tolerance) continue;
      return concat("rank ", part.rank, " has the part of rank ", other.rank, axis_between(mesh, part.rank, other.rank),
                    ": wrong offset of a shard");
    }
  }
  return {};
}

}  // namespace

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  constexpr double kDiffers = std::numeric_limits<double>::infinity();
  if (!a.sizes().equals(b.sizes())) return kDiffers;
  if (a.numel() == 0) return 0;
  const at::Tensor exact = b.to(at::kDouble);
  const double difference = a.to(at::kDouble).sub(exact).abs().max().item<double>();
  if (difference == 0) return 0;
  const double quotient = difference / exact.abs().max().item<double>();
  return std::isnan(quotient) ? kDiffers : quotient;
}

std::string explain(const PartedTensor& tensor, const at::Tensor& reference, const config::Mesh& mesh,
                    double tolerance) {
  for (const auto reason : {&explain_replicas, &explain_factor, &explain_offset}) {
    if (std::string found = reason(tensor, reference, mesh, tolerance); !found.empty()) return found;
  }
  return {};
}

}  // namespace titan::train
