#include "plugins/observability/breakpoint/rank_subject.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "plugins/observability/breakpoint/command.hpp"
#include "plugins/observability/breakpoint/elements_text.hpp"
#include "plugins/observability/breakpoint/text_parts.hpp"
#include "plugins/observability/kept_state.hpp"
#include "plugins/observability/phase.hpp"
#include "plugins/observability/tensor_text.hpp"

namespace titan::observability {
namespace {

constexpr std::size_t kMostLines = 120;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// "this rank's part [0:32, 0:64] of [64, 64]" for a tensor of a parameter that is spread over ranks; empty where each
/// has all of it, and for tensors of another shape (an optimizer's step).
std::string part_note(const strategy::Parameter& parameter, const at::Tensor& tensor) {
  const std::vector<std::int64_t> shape = parameter.shape();
  const strategy::Part part = parameter.part();
  if (part.sizes == shape) return {};
  if (tensor.sizes() == shape) return "whole, not yet summed over the ranks and cut";
  if (tensor.sizes() != part.sizes) return {};
  std::string out = "this rank's part [";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    out += sdk::concat(i == 0 ? "" : ", ", part.offsets[i], ':', part.offsets[i] + part.sizes[i]);
  }
  return sdk::concat(out, "] of ", list_text(shape));
}

/// What is left out of many lines is counted.
std::string joined(const std::vector<std::string>& lines, std::string_view advice) {
  std::string out;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) out += lines[i] + '\n';
  if (lines.size() > kMostLines) out += sdk::concat("  ... and ", lines.size() - kMostLines, " more: ", advice, '\n');
  return out;
}

/// libtorch's errors without their backtraces.
template <class Body>
std::string complaining(Body body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    throw CommandError(error.what_without_backtrace());
  }
}

}  // namespace

RankSubject::RankSubject(const sdk::GuardHandles& handles, std::string label, std::string module, NamedTensors tensors)
    : handles_(handles),
      tree_(sdk::TreeHandle{handles.host, handles.tree, 0}),
      place_{},
      label_(std::move(label)),
      module_(std::move(module)),
      tensors_(std::move(tensors)) {
  place_.struct_size = sizeof place_;
  handles.host.require<titan_control_v1>(TITAN_CONTROL_V1)->place(handles.control, &place_);
}

std::string RankSubject::place() const {
  std::string out = sdk::concat("rank ", handles_.host.rank(), " (step ", place_.step);
  if (place_.micro_batch >= 0) out += sdk::concat(", micro-batch ", place_.micro_batch);
  if (place_.phase != TITAN_IN_STEP) out += sdk::concat(", ", phase_name(place_.phase));
  return sdk::concat(out, ", ", label_, ')');
}

std::string RankSubject::banner() const {
  std::string out = sdk::concat("\n*** breakpoint: ", place(), "\n    pid ", ::getpid(), " on ", host_name(),
                                ": gdb -p ", ::getpid(), "\n");
  const bool has_peers = handles_.host.world_size() > 1;
  if (has_peers) out += "    the other ranks wait, their deadlines are suspended\n";
  return sdk::concat(out, "    help lists the commands; quit ends the run", has_peers ? " on all ranks\n" : "\n");
}

std::string RankSubject::where() const {
  std::string out = sdk::concat("  rank         ", handles_.host.rank(), " of ", handles_.host.world_size(),
                                "\n  step         ", place_.step, '\n');
  if (place_.micro_batch >= 0) out += sdk::concat("  micro-batch  ", place_.micro_batch, '\n');
  if (place_.stage > 0) out += sdk::concat("  stage        ", place_.stage, '\n');
  out += sdk::concat("  phase        ", phase_name(place_.phase), "\n  module       ",
                     module_.empty() ? "(none)" : module_, "\n  place        ", label_, "\n  process      ", ::getpid(),
                     " on ", host_name(), ": gdb -p ", ::getpid(), '\n');
  for (const auto& [name, tensor] : tensors_)
    out += sdk::concat("  tensor       ", name, ": ", type_and_shape(tensor), '\n');
  return out;
}

std::string RankSubject::parameter_line(const strategy::Parameter& parameter) const {
  if (!parameter.is_kept()) return sdk::concat(list_text(parameter.shape()), ", on another pipeline stage");
  const at::Tensor storage = parameter.storage();
  if (!storage.defined()) return list_text(parameter.shape());
  const std::string note = part_note(parameter, storage);
  return sdk::concat(type_and_shape(storage), note.empty() ? "" : ", ", note);
}

std::string RankSubject::module(const std::string& name) const {
  const std::optional<strategy::Module> top = name.empty() ? find_module(module_) : find_module(name);
  if (!name.empty() && !top) {
    std::vector<std::string> known;
    for (const auto& module : tree_.modules()) known.emplace_back(module.name());
    throw CommandError("no module is called \"", name, '"', suggestion(name, known), " (module alone shows all below)");
  }
  std::vector<std::string> lines;
  for (const strategy::Module& module : tree_.modules()) {
    if (top && !module.is_in(*top)) continue;
    lines.push_back(sdk::concat("  ", module.name(), "  (", module.kind(), ')'));
    for (const auto& parameter : module.parameters()) {
      lines.push_back(
          sdk::concat("      ", parameter.name().substr(module.name().size() + 1), ": ", parameter_line(parameter)));
    }
  }
  return joined(lines, "module NAME shows one of them");
}

std::vector<RankSubject::Found> RankSubject::kept(std::int32_t kind) const {
  std::vector<Found> all;
  for (KeptTensor& kept : kept_state(handles_, {kind}))
    all.push_back({std::move(kept.name), std::move(kept.tensor), {}});
  if (kind == TITAN_STATE_BUFFER) return all;
  std::map<std::string, strategy::Parameter> parameters;
  for (const auto& module : tree_.modules()) {
    for (const auto& parameter : module.parameters()) parameters.emplace(parameter.name(), parameter);
  }
  for (Found& found : all) {
    std::string owner = found.name;
    if (kind == TITAN_STATE_OPTIMIZER) owner.resize(owner.rfind('.'));
    if (const auto parameter = parameters.find(owner); parameter != parameters.end()) {
      found.note = part_note(parameter->second, found.tensor);
    }
  }
  return all;
}

std::vector<std::string> RankSubject::spellings(const std::string& name) const {
  if (module_.empty()) return {name};
  return {name, sdk::concat(module_, '.', name)};
}

std::optional<strategy::Module> RankSubject::find_module(const std::string& name) const {
  for (const std::string& spelling : spellings(name)) {
    for (const auto& module : tree_.modules()) {
      if (module.name() == spelling) return module;
    }
  }
  return std::nullopt;
}

std::vector<std::string> RankSubject::names() const {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : tensors_) out.push_back(name);
  for (const auto kind : {TITAN_STATE_PARAMETER, TITAN_STATE_OPTIMIZER, TITAN_STATE_BUFFER}) {
    for (const Found& found : kept(kind)) out.push_back(found.name);
  }
  return out;
}

RankSubject::Found RankSubject::find(const std::string& name) const {
  for (const auto& [own, tensor] : tensors_) {
    if (own == name) return {own, tensor, {}};
  }
  for (const auto kind : {TITAN_STATE_PARAMETER, TITAN_STATE_OPTIMIZER, TITAN_STATE_BUFFER}) {
    for (Found& found : kept(kind)) {
      for (const std::string& spelling : spellings(name)) {
        if (found.name == spelling) return std::move(found);
      }
    }
  }
  throw CommandError("no tensor of this rank is called \"", name, '"', suggestion(name, names()),
                     " (stats lists what is here, module what the model has)");
}

RankSubject::Found RankSubject::find_gradient(const std::string& name) const {
  const std::vector<Found> gradients = kept(TITAN_STATE_GRADIENT);
  for (const std::string& spelling : spellings(name)) {
    for (const Found& found : gradients) {
      if (found.name == spelling) return found;
    }
  }
  const Found parameter = find(name);
  throw CommandError("no gradient yet: ", parameter.name,
                     ": this step's backward has not reached it, or the last update "
                     "has used it up; break in backward, or later in it");
}

std::string RankSubject::stats(const std::string& name) const {
  return complaining([&] {
    const auto one = [](const Found& found) {
      return sdk::concat(found.name, ": ", type_and_shape(found.tensor), found.note.empty() ? "" : ", ", found.note,
                         '\n', stats_text(found.tensor));
    };
    std::string out;
    if (name.empty()) {
      for (const auto& [own, tensor] : tensors_) out += one({own, tensor, {}});
      return out.empty()
                 ? std::string("no tensor is here; stats NAME takes a parameter or a module (module lists them)\n")
                 : out;
    }
    const bool is_mine = std::ranges::any_of(tensors_, [&](const auto& item) { return item.first == name; });
    const std::optional<strategy::Module> module = is_mine ? std::nullopt : find_module(name);
    if (!module) return one(find(name));
    const std::string inside = sdk::concat(module->name(), '.');
    for (const Found& found : kept(TITAN_STATE_PARAMETER)) {
      if (found.name.starts_with(inside)) out += one(found);
    }
    return out.empty() ? sdk::concat(module->name(), " has no parameters on this rank\n") : out;
  });
}

std::string RankSubject::print(const std::string& name, const std::string& slice) const {
  return complaining([&] {
    const Found found = find(name);
    return sdk::concat(found.name, slice, ": ", type_and_shape(found.tensor), found.note.empty() ? "" : ", ",
                       found.note, '\n', elements_text(found.tensor, slice));
  });
}

std::string RankSubject::grad(const std::string& name, const std::string& slice) const {
  return complaining([&] {
    const Found found = find_gradient(name);
    return sdk::concat("gradient of ", found.name, slice, ": ", type_and_shape(found.tensor),
                       found.note.empty() ? "" : ", ", found.note,
                       place_.phase == TITAN_IN_STEP ? ", of the step before\n" : "\n",
                       slice.empty() ? stats_text(found.tensor) : elements_text(found.tensor, slice));
  });
}

}  // namespace titan::observability
