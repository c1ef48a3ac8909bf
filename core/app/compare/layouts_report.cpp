#include "core/app/compare/layouts_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/app/compare/comparison_report.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

/// "2 of 21 parameters, 1 of 2 buffers"; no word of buffers where there are none.
std::string differing_text(const LayoutsReport& report) {
  std::string text = concat(std::ranges::count(report.parameters, false, &LayoutParameter::agrees), " of ",
                            report.parameters.size(), " parameters");
  if (report.buffers.empty()) return text;
  return concat(text, ", ", std::ranges::count(report.buffers, false, &LayoutBuffer::agrees), " of ",
                report.buffers.size(), " buffers");
}

/// The first parameter that differs, one with an explanation if there is one.
const LayoutParameter* telling_parameter(const LayoutsReport& report) {
  const LayoutParameter* first = nullptr;
  for (const LayoutParameter& parameter : report.parameters) {
    if (parameter.agrees) continue;
    if (!parameter.explanation.empty()) return &parameter;
    if (first == nullptr) first = &parameter;
  }
  return first;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string steps_text(const LayoutsReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const LayoutStep& step = report.steps[i];
    text += concat(step.agrees ? "  " : "! ", "step ", i + 1, ": loss ", step.loss, " vs ", step.reference_loss,
                   ", gradient norm ", step.grad_norm, " vs ", step.reference_grad_norm, "\n");
  }
  return text;
}

std::string parameters_text(const LayoutsReport& report) {
  std::string text = "  gradient   weight  parameter\n";
  for (const LayoutParameter& parameter : report.parameters) {
    text += concat(parameter.agrees ? "  " : "! ", padded(relative_text(parameter.gradient), 8), " ",
                   padded(relative_text(parameter.weight), 8), "  ", printable(parameter.name),
                   parameter.explanation.empty() ? "" : ": ", parameter.explanation, "\n");
  }
  return text;
}

std::string buffers_text(const LayoutsReport& report) {
  std::string text = report.buffers.empty() ? "" : "difference  buffer, bit for bit\n";
  for (const LayoutBuffer& buffer : report.buffers) {
    text += concat(buffer.agrees ? "  " : "! ", padded(relative_text(buffer.difference), 8), "  ",
                   printable(buffer.name), buffer.explanation.empty() ? "" : ": ", buffer.explanation, "\n");
  }
  return text;
}

/// Where the layout begins to differ.
std::string begin_text(const LayoutsReport& report) {
  const std::string whole = concat(report.num_whole_modules, " of ", report.num_modules, " modules");
  if (!report.first_module.empty()) {
    return concat("first module that differs, in order of execution: ", printable(report.first_module), " (",
                  relative_text(report.first_module_difference), "; ", whole, " give whole outputs here)\n");
  }
  const auto first = std::ranges::find(report.parameters, false, &LayoutParameter::agrees);
  const std::string outputs = report.num_whole_modules == 0
                                  ? std::string("no module gives whole outputs in this layout")
                                  : concat("the outputs agree of ", whole, " that give whole ones");
  if (first == report.parameters.end()) return concat(outputs, "\n");
  return concat(outputs, "; first parameter that differs, in order of declaration: ", printable(first->name), "\n");
}

nlohmann::json steps_json(const LayoutsReport& report) {
  nlohmann::json steps = nlohmann::json::array();
  for (const LayoutStep& step : report.steps) {
    steps.push_back({{"loss", step.loss},
                     {"reference_loss", step.reference_loss},
                     {"grad_norm", step.grad_norm},
                     {"reference_grad_norm", step.reference_grad_norm},
                     {"agrees", step.agrees}});
  }
  return steps;
}

nlohmann::json parameters_json(const LayoutsReport& report) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const LayoutParameter& parameter : report.parameters) {
    parameters.push_back({{"name", parameter.name},
                          {"gradient", parameter.gradient},
                          {"weight", parameter.weight},
                          {"agrees", parameter.agrees},
                          {"explanation", parameter.explanation}});
  }
  return parameters;
}

nlohmann::json buffers_json(const LayoutsReport& report) {
  nlohmann::json buffers = nlohmann::json::array();
  for (const LayoutBuffer& buffer : report.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"difference", buffer.difference},
                       {"agrees", buffer.agrees},
                       {"explanation", buffer.explanation}});
  }
  return buffers;
}

/// The first buffer that differs, and why; empty where none does.
std::string buffer_verdict(const LayoutsReport& report) {
  const auto first = std::ranges::find(report.buffers, false, &LayoutBuffer::agrees);
  if (first == report.buffers.end()) return {};
  return concat(", ", printable(first->name), ": ", relative_text(first->difference),
                first->explanation.empty() ? "" : ": ", first->explanation);
}

}  // namespace

std::string layouts_report(const LayoutsReport& report) {
  return concat(
      "layout: ", report.layout, "\nagainst one rank; tolerances: gradients, figures and outputs ",
      report.gradient_tolerance, ", weights ", report.weight_tolerance, "\n", steps_text(report),
      parameters_text(report), buffers_text(report), begin_text(report),
      report.agrees() ? std::string("the layout agrees with one rank\n") : concat(differing_text(report), " differ\n"));
}

std::string layouts_json(const LayoutsReport& report) {
  const nlohmann::json json{{"layout", report.layout},
                            {"agrees", report.agrees()},
                            {"gradient_tolerance", report.gradient_tolerance},
                            {"weight_tolerance", report.weight_tolerance},
                            {"steps", steps_json(report)},
                            {"parameters", parameters_json(report)},
                            {"buffers", buffers_json(report)},
                            {"modules", report.num_modules},
                            {"whole_modules", report.num_whole_modules},
                            {"first_module", report.first_module}};
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string layouts_verdict(const LayoutsReport& report) {
  if (report.agrees()) return {};
  std::string text = concat("[compare] the layout differs from one rank: ", differing_text(report));
  if (!report.first_module.empty()) text += concat(", first module ", printable(report.first_module));
  const LayoutParameter* telling = telling_parameter(report);
  if (telling == nullptr) return text + buffer_verdict(report);
  text += concat(", ", printable(telling->name), ": gradient ", relative_text(telling->gradient), ", weight ",
                 relative_text(telling->weight));
  return telling->explanation.empty() ? text : concat(text, ": ", telling->explanation);
}

}  // namespace titan::app
