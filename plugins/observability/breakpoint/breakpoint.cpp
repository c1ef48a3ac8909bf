#include "plugins/observability/breakpoint/breakpoint.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "plugins/observability/breakpoint/descriptor.hpp"
#include "plugins/observability/breakpoint/text_parts.hpp"
#include "titan/torch/error.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kTag = "breakpoint";
// Outermost: what the module is given, before any strategy has changed it.
constexpr std::int32_t kPriority = std::numeric_limits<std::int32_t>::min();
constexpr int kPatienceMilliseconds = 100;

NamedTensors numbered(std::string_view name, const strategy::Tensors& tensors) {
  NamedTensors out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined())
      out.emplace_back(tensors.size() == 1 ? std::string(name) : sdk::concat(name, i), tensors[i]);
  }
  return out;
}

/// A rank whose output nobody sees says it where the launcher's own lines go.
bool tell_launcher(std::uint32_t rank, std::string_view text) {
  pollfd place{named_descriptor("TITAN_NOTICE_FD"), POLLOUT, 0};
  if (place.fd < 0 || ::poll(&place, 1, kPatienceMilliseconds) != 1) return false;
  write_whole(place.fd, sdk::concat("[rank", rank, "]: [", kTag, "] ", text, '\n'));
  return true;
}

/// Whether a rank has written down why it ended, as ranks of the launcher do, a quit too, before their process is gone.
bool has_a_rank_failed(std::uint32_t num_ranks) {
  const char* const own = std::getenv("TITAN_ERROR_FILE");
  if (own == nullptr) return false;
  const std::filesystem::path folder = std::filesystem::path(own).parent_path();
  std::error_code ignored;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    if (std::filesystem::exists(folder / sdk::concat("rank_", rank, ".json"), ignored)) return true;
  }
  return false;
}

}  // namespace

void Breakpoint::describe(sdk::Describe& declare) {
  declare.options({
      {"debug.break_at", sdk::none<std::string>,
       "Break into the run and open a prompt on a rank's terminal, while the other ranks wait: "
       "rank=1,step=3,module=layers.2. Every key may be left out: rank 0, the first time, where a step begins; "
       "phase=backward: when the module's backward begins. Several places are separated by semicolons.",
       sdk::metavar("PLACES"), sdk::must_match},
  });
}

Breakpoint::Breakpoint(sdk::Host host) : host_(host) {
  const auto text = host.config().get<std::optional<std::string>>("debug.break_at");
  if (!text) return;
  specs_ = parse_break_at(*text, host.world_size(), host.config().integer("training.steps"));
  for (const BreakSpec& spec : specs_) {
    if (spec.rank == host.rank()) places_.push_back({spec});
  }
}

void Breakpoint::attach(const sdk::GuardHandles& handles) {
  handles_ = handles;
  control_ = handles.host.require<titan_control_v1>(TITAN_CONTROL_V1);
  const strategy::Tree tree(sdk::TreeHandle{handles.host, handles.tree, kPriority});
  std::vector<std::string> names;
  for (const auto& module : tree.modules()) names.emplace_back(module.name());
  for (const BreakSpec& spec : specs_) {
    if (spec.module.empty() || std::ranges::find(names, spec.module) != names.end()) continue;
    throw sdk::ConfigError("[breakpoint] debug.break_at: no module is called \"", spec.module, '"',
                           suggestion(spec.module, names), ", in \"", spec.text(), '"');
  }
  for (Place& place : places_) {
    if (!place.spec.module.empty()) attach_to_module(place, tree);
  }
}

void Breakpoint::attach_to_module(Place& place, const strategy::Tree& tree) {
  const strategy::Module module = strategy::modules(tree, place.spec.module).front();
  bool has_parameters = false, has_any_here = false;
  for (const strategy::Module& inner : tree.modules()) {
    if (!inner.is_in(module)) continue;
    for (const strategy::Parameter& parameter : inner.parameters()) {
      has_parameters = true;
      has_any_here = has_any_here || parameter.is_kept();
    }
  }
  if (has_parameters && !has_any_here) {
    throw sdk::ConfigError("[breakpoint] debug.break_at: rank ", host_.rank(), " does not run ", module.name(),
                           ", which is on another pipeline stage: name a rank of that stage, in \"", place.spec.text(),
                           '"');
  }
  strategy::attach(tree, module, [this, &place](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
    if (!place.spec.in_backward) enter(place, frame, in);
    strategy::Tensors outputs = next(frame, in);
    if (place.spec.in_backward) wait_for_backward(place, std::string(frame.module().name()), outputs);
    return outputs;
  });
}

void Breakpoint::enter(Place& place, const strategy::Frame& frame, strategy::Inputs in) {
  if (frame.phase() != TITAN_PHASE_TRAINING || !is_due(place, step_now())) return;
  const std::string name(frame.module().name());
  stop(sdk::concat("entering ", name), name, numbered("input", in));
}

void Breakpoint::wait_for_backward(Place& place, const std::string& module, const strategy::Tensors& outputs) {
  const auto output = std::ranges::find_if(outputs, [](const at::Tensor& tensor) { return tensor.requires_grad(); });
  if (place.was_reached || output == outputs.end()) return;
  output->register_hook([this, &place, module](const at::TensorBase& gradient) {
    strategy::run_in_backward([&] {
      if (!is_due(place, step_now())) return;
      stop(sdk::concat("entering the backward of ", module), module, {{"grad_output", at::Tensor(gradient)}});
    });
  });
}

bool Breakpoint::is_due(Place& place, std::int64_t step) const {
  if (place.was_reached || (place.spec.step && *place.spec.step != step)) return false;
  return place.was_reached = true;
}

std::int64_t Breakpoint::step_now() const {
  titan_place now{};
  now.struct_size = sizeof now;
  control_->place(handles_->control, &now);
  return now.step;
}

void Breakpoint::step_begin(std::int64_t step) {
  bool is_asked = std::exchange(breaks_at_next_step_, false);
  for (Place& place : places_) {
    if (place.spec.module.empty() && is_due(place, step)) is_asked = true;
  }
  if (is_asked) stop("where the step begins", {}, {});
}

void Breakpoint::breakpoint(std::string_view label, const titan_string* names, const titan_tensor* tensors,
                            std::uint32_t num_tensors) {
  NamedTensors named;
  for (std::uint32_t i = 0; i < num_tensors; ++i) {
    if (tensors[i] != nullptr) named.emplace_back(sdk::view(names[i]), handle::borrow(tensors[i]));
  }
  titan_place now{};
  now.struct_size = sizeof now;
  control_->place(handles_->control, &now);
  stop(sdk::concat("at \"", label, '"'), std::string(sdk::view(now.module_name)), std::move(named));
}

void Breakpoint::run_end(const titan_run_end_event& /*event*/) {
  for (const Place& place : places_) {
    if (!place.was_reached) host_.warning(kTag, sdk::concat("a breakpoint was never reached: ", place.spec.text()));
  }
}

void Breakpoint::stop(std::string label, std::string module, NamedTensors tensors) {
  if (was_passed_over_ || !handles_) return;
  const RankSubject subject(*handles_, std::move(label), std::move(module), std::move(tensors));
  if (control_->is_shown(handles_->control) == 0) {
    return pass_over(subject, "the launcher does not show this rank",
                     sdk::concat("show it with LOG_RANK=", host_.rank(), " (or --local-ranks-filter)"));
  }
  const ConsoleSource source = find_console();
  if (source.kind == ConsoleSource::Kind::none) {
    return pass_over(subject, source.problem, "start the run in a terminal, or pipe commands into it");
  }
  host_.check(control_->hold(handles_->control));
  try {
    prompt(source, subject);
  } catch (...) {
    release_all_the_same();
    throw;
  }
  host_.check(control_->release(handles_->control));
}

/// Somebody may catch what passes here, and the run goes on.
void Breakpoint::release_all_the_same() const {
  try {
    host_.check(control_->release(handles_->control));
  } catch (const std::exception& error) {
    host_.warning(kTag, sdk::concat("the deadlines stay suspended: ", error.what()));
  }
}

void Breakpoint::prompt(const ConsoleSource& source, const RankSubject& subject) {
  bool has_waited = false;
  const OpenedConsole opened = open_console(source, [&] {
    has_waited = true;
    host_.info(kTag, sdk::concat(subject.place(), " waits for its turn: another rank is at its prompt"));
  });
  if (opened.got == Console::Got::interrupt) quit(subject);
  if (opened.got == Console::Got::signal) return;
  if (opened.console == nullptr) {
    return pass_over(subject, opened.problem, "start the run in a terminal, or pipe commands into it");
  }
  if (has_waited && has_a_rank_failed(host_.world_size())) {
    return host_.info(kTag, sdk::concat(subject.place(), " has no prompt: the run was ended meanwhile"));
  }
  opened.console->write(subject.banner());
  switch (run_prompt(*opened.console, subject, sdk::concat("rank ", host_.rank(), "> "))) {
    case PromptEnd::go_on:
      return;
    case PromptEnd::step:
      breaks_at_next_step_ = true;
      return;
    case PromptEnd::leave:
      return opened.console->write("a signal asks for the run's end: going on to where it can stop\n");
    case PromptEnd::quit:
      opened.console->write("ending the run on all ranks\n");
      opened.console->keep();
      quit(subject);
  }
}

void Breakpoint::pass_over(const RankSubject& subject, const std::string& why, const std::string& advice) {
  was_passed_over_ = true;
  const std::string text =
      sdk::concat("passed over: ", subject.place(), ": ", why, ": ", advice, ", or attach a debugger: gdb -p ",
                  ::getpid(), "; later breakpoints of this rank are passed over too");
  host_.warning(kTag, text);
  if (control_->is_shown(handles_->control) == 0) tell_launcher(host_.rank(), text);
}

void Breakpoint::quit(const RankSubject& subject) const {
  throw sdk::Error(TITAN_ERROR_QUIT, sdk::concat("quit at the breakpoint on ", subject.place()));
}

}  // namespace titan::observability
