#include "core/train/layouts/compare_layouts.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/isnan.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/log.hpp"
#include "core/tensor/allocator.hpp"
#include "core/train/ending.hpp"
#include "core/train/layouts/explanation.hpp"
#include "core/train/torch_warnings.hpp"

namespace titan::train {
namespace {

constexpr double kDiffers = std::numeric_limits<double>::infinity();

bool is_near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::abs(b); }

/// The figures of all ranks are the same: they are agreed on.
std::vector<LayoutStep> judge_steps(const LayoutsRequest& request, const LayoutOutcome& outcome,
                                    const LayoutOutcome& reference) {
  std::vector<LayoutStep> steps;
  for (std::size_t i = 0; i < reference.figures.front().size(); ++i) {
    const LayoutFigures &a = outcome.figures.front()[i], &b = reference.figures.front()[i];
    const bool agrees = is_near(a.loss, b.loss, request.gradient_tolerance) &&
                        is_near(a.grad_norm, b.grad_norm, request.gradient_tolerance);
    steps.push_back({a.loss, b.loss, a.grad_norm, b.grad_norm, agrees});
  }
  return steps;
}

/// Infinite where a part is missing.
double difference(const std::map<std::string, PartedTensor>& tensors, const std::string& name,
                  const at::Tensor& reference) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || !found->second.is_complete()) return kDiffers;
  double largest = 0;
  for (const PartedTensor::Part& part : found->second.parts) {
    // Relative to the whole: a part may hold nothing but zeros.
    const at::Tensor whole = reference.clone();
    part_of(whole, part.box).copy_(part.values);
    largest = std::max(largest, relative_difference(whole, reference));
  }
  return largest;
}

LayoutParameter judge_parameter(const LayoutsRequest& request, const LayoutOutcome& outcome,
                                const LayoutOutcome& reference, const std::string& name) {
  LayoutParameter judged;
  judged.name = name;
  const at::Tensor gradient = reference.first_gradients.at(name).whole();
  judged.gradient = difference(outcome.first_gradients, name, gradient);
  judged.weight = difference(outcome.weights, name, reference.weights.at(name).whole());
  const bool has_gradient_fault = judged.gradient > request.gradient_tolerance;
  judged.agrees = !has_gradient_fault && judged.weight <= request.weight_tolerance;
  if (has_gradient_fault && outcome.first_gradients.contains(name)) {
    judged.explanation = explain(outcome.first_gradients.at(name), gradient, request.mesh, request.gradient_tolerance);
  }
  return judged;
}

/// What is counted is counted exactly: every rank has the reference's bits.
LayoutBuffer judge_buffer(const LayoutsRequest& request, const LayoutOutcome& outcome, const std::string& name,
                          const at::Tensor& reference) {
  LayoutBuffer judged;
  judged.name = name;
  judged.difference = difference(outcome.buffers, name, reference);
  const auto found = outcome.buffers.find(name);
  judged.agrees =
      found != outcome.buffers.end() && std::ranges::all_of(found->second.parts, [&](const PartedTensor::Part& part) {
        return part.values.equal(part_of(reference, part.box));
      });
  if (!judged.agrees && found != outcome.buffers.end()) {
    judged.explanation = explain(found->second, reference, request.mesh, 0);
  }
  return judged;
}

void judge_outputs(const LayoutsRequest& request, const OutputTrace& outputs, const OutputTrace& reference,
                   LayoutsReport& report) {
  for (const std::string& module : reference.order()) {
    ++report.num_modules;
    const OutputTrace::Outputs& expected = reference.outputs().at(module);
    const auto found = outputs.outputs().find(module);
    if (found == outputs.outputs().end() || found->second.num_features != expected.num_features) continue;
    if (found->second.sums.isnan().any().item<bool>() && !expected.sums.isnan().any().item<bool>()) continue;
    ++report.num_whole_modules;
    const double gap = relative_difference(found->second.sums, expected.sums);
    if (!report.first_module.empty() || gap <= request.gradient_tolerance) continue;
    report.first_module = module;
    report.first_module_difference = gap;
  }
}

}  // namespace

LayoutsReport judge_layout(const LayoutsRequest& request, const LayoutOutcome& outcome,
                           const LayoutOutcome& reference) {
  LayoutsReport report;
  report.layout = request.mesh.describe();
  report.gradient_tolerance = request.gradient_tolerance;
  report.weight_tolerance = request.weight_tolerance;
  report.steps = judge_steps(request, outcome, reference);
  for (const std::string& name : reference.parameters) {
    report.parameters.push_back(judge_parameter(request, outcome, reference, name));
  }
  for (const auto& [name, buffer] : reference.buffers) {
    report.buffers.push_back(judge_buffer(request, outcome, name, buffer.whole()));
  }
  judge_outputs(request, *outcome.outputs, *reference.outputs, report);
  // Outputs tell where a difference begins, not whether there is one: a strategy may order split tokens as it likes.
  if (report.agrees()) report.first_module.clear();
  return report;
}

LayoutsReport compare_layouts(const LayoutsRequest& request) {
  tensor::install_cpu_allocator();
  const TorchWarningsToLog warnings;
  try {
    // Ranks share the cores, and the number of threads has a say in the last bits.
    at::set_num_threads(1);
    LayoutRun run{request.mesh, request.steps, [&](std::int64_t rank) { return request.make_rank(false, rank); }};
    LayoutRun one{config::Mesh(), request.steps, [&](std::int64_t rank) { return request.make_rank(true, rank); }};
    log_info("layouts", "the reference: one rank");
    const LayoutOutcome reference = run_layout(one);
    log_info("layouts", "the layout: ", request.mesh.describe());
    return judge_layout(request, run_layout(run), reference);
  } catch (...) {
    rethrow_for_host();
  }
}

}  // namespace titan::train
