#include "core/trace/site.hpp"

#include <string_view>

#include "core/base/text.hpp"

namespace titan::trace {
namespace {

bool is_operator(std::string_view name) { return name.starts_with("aten::") || name.starts_with("at::_ops::"); }

Site site_of_ours(const StackFrame& op, const StackFrame& phase) {
  return {.op = op.name, .module = op.file, .phase = phase.name, .step = phase.line};
}

Site site_of_others(const Snapshot& snapshot, std::span<const std::uint32_t> stack) {
  Site site;
  const StackFrame* place = nullptr;
  bool is_python = false, has_operator = false;
  for (const std::uint32_t number : stack) {
    const StackFrame& frame = snapshot.stacks.frame(number);
    if (!has_operator && is_operator(snapshot.text(frame.name))) {
      site.op = frame.name;
      has_operator = true;
    }
    if (!is_python && snapshot.text(frame.file).ends_with(".py")) {
      place = &frame;
      is_python = true;
    }
  }
  if (place == nullptr) place = &snapshot.stacks.frame(stack.front());
  if (!has_operator) site.op = snapshot.stacks.frame(stack.front()).name;
  site.module = place->file;
  site.line = place->line;
  return site;
}

}  // namespace

Site site_of(const Snapshot& snapshot, std::uint32_t stack) {
  const std::span<const std::uint32_t> frames = snapshot.stacks[stack];
  if (frames.empty()) return {};
  if (frames.size() >= 2) {
    const StackFrame& second = snapshot.stacks.frame(frames[1]);
    if (snapshot.text(second.file).starts_with("step ")) return site_of_ours(snapshot.stacks.frame(frames[0]), second);
  }
  return site_of_others(snapshot, frames);
}

std::vector<Site> sites_of(const Snapshot& snapshot) {
  std::vector<Site> sites(snapshot.stacks.size());
  for (std::uint32_t i = 0; i < sites.size(); ++i) sites[i] = site_of(snapshot, i);
  return sites;
}

std::string module_text(const Snapshot& snapshot, const Site& site) {
  const std::string_view module = snapshot.text(site.module);
  if (module.empty()) return "(no module)";
  return site.line != 0 ? concat(module, ":", site.line) : std::string(module);
}

std::string op_text(const Snapshot& snapshot, const Site& site) {
  const std::string_view op = snapshot.text(site.op);
  return op.empty() ? "(no operator)" : std::string(op);
}

std::string when_text(const Snapshot& snapshot, const Site& site) {
  const std::string_view phase = snapshot.text(site.phase);
  if (site.step < 0) return std::string(phase);
  return phase.empty() ? concat("step ", site.step) : concat("step ", site.step, ", ", phase);
}

std::string site_text(const Snapshot& snapshot, const Site& site) {
  const std::string when = when_text(snapshot, site);
  return concat(op_text(snapshot, site), " in ", module_text(snapshot, site), when.empty() ? "" : " (", when,
                when.empty() ? "" : ")");
}

}  // namespace titan::trace
