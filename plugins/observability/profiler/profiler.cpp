#include "plugins/observability/profiler/profiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "plugins/observability/clocks.hpp"
#include "plugins/observability/json_line.hpp"
#include "plugins/observability/memory/snapshot_file.hpp"
#include "plugins/observability/output_file.hpp"
#include "plugins/observability/phase.hpp"
#include "plugins/observability/profiler/options.hpp"
#include "plugins/observability/profiler/raw_trace.hpp"
#include "plugins/observability/profiler/trace_file.hpp"
#include "plugins/observability/profiler/trace_head.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kTag = "profiler";
constexpr double kMebibyte = 1 << 20;

std::atomic<bool>& is_claimed() {
  static std::atomic<bool> instance{false};
  return instance;
}

bool is_recorded(ProfilerAction action) {
  return action == ProfilerAction::record || action == ProfilerAction::record_and_save;
}

/// What a phase, or a module's backward in it, belongs to.
std::string phase_args(const titan_span_event& event) {
  JsonLine args;
  args.add("step", event.step);
  if (event.micro_batch >= 0) args.add("micro_batch", std::int64_t{event.micro_batch});
  args.add("stage", std::int64_t{event.stage});
  return args.object();
}

}  // namespace

Profiler::Claim::Claim() {
  if (!is_claimed().exchange(true)) return;
  throw sdk::ConfigError(
      "profiler.enable_profiling needs a process for each rank, libtorch records whole processes: several ranks run as "
      "threads of this one");
}

Profiler::Claim::~Claim() { is_claimed() = false; }

void Profiler::describe(sdk::Describe& declare) { describe_profiler(declare); }

ToolPointer Profiler::make(sdk::Host host) {
  return host.config().boolean("profiler.enable_profiling") ? std::make_unique<Profiler>(host) : nullptr;
}

Profiler::Profiler(sdk::Host host)
    : host_(host),
      schedule_(profiler_schedule(host.config())),
      folder_(std::filesystem::path(host.config().string("dump_folder")) /
              host.config().string("profiler.save_traces_folder")),
      memory_(host.find<titan_memory_v1>(TITAN_MEMORY_V1)) {
  // On the CPU Kineto complains on the console that there is no GPU. It asks for its level once, when it is first
  // prepared; now no other threads are there that read the environment.
  if (host.config().string("training.device") != "cuda") ::setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);
}

Profiler::~Profiler() {
  if (modules_) modules_->set_recording(false);
}

void Profiler::attach(const sdk::GuardHandles& handles) {
  modules_ = ModuleScopes::attach(handles.host, handles.tree, *this);
  if (memory_ != nullptr) watch_modules(*memory_);
}

void Profiler::run_begin(const titan_run_event& event) {
  device_ = event.device;
  kineto_.emplace(device_ == TITAN_DEVICE_CUDA);
  host_.info(kTag, plan_line(schedule_, event, folder_));
}

void Profiler::span(const titan_span_event& event) {
  if (event.is_end != 0) return end_phase(event);
  // After the run began: what comes before it has no steps.
  if (event.phase == TITAN_IN_STEP && kineto_ && modules_) begin_step(event.step);
  begin_phase(event);
}

void Profiler::begin_step(std::int64_t step) {
  const ProfilerAction before = action_;
  // libtorch counts steps from 0.
  action_ = schedule_.at(step - 1);
  if (kineto_->is_recording() && (!is_recorded(action_) || before == ProfilerAction::record_and_save)) stop_and_save();
  step_ = step;
  try {
    go_to(action_);
  } catch (...) {
    // This tool is taken out: modules must not go on telling it of their calls.
    modules_->set_recording(false);
    backward_.reset();
    throw;
  }
}

void Profiler::go_to(ProfilerAction action) {
  if (action == ProfilerAction::none) return;
  if (!kineto_->is_prepared()) kineto_->prepare();
  if (!is_recorded(action)) return;
  if (!kineto_->is_recording()) start();
  kineto_->name_step(sdk::concat("ProfilerStep#", step_));
}

void Profiler::start() {
  first_recorded_ = step_;
  timeline_.begin();
  recorded_since_ = monotonic_seconds();
  backward_.emplace(*modules_, timeline_);
  kineto_->start();
  modules_->set_recording(true);
  sample_memory();
}

void Profiler::stop_and_save() {
  modules_->set_recording(false);
  sample_memory();
  backward_.reset();
  try {
    save();
  } catch (const std::exception& error) {
    // A disk that is full now may have room for the next trace.
    host_.warning(kTag, sdk::concat("a trace is lost: ", error.what()));
    if (kineto_->is_recording()) kineto_->discard();
  }
}

void Profiler::save() {
  const double begin = monotonic_seconds();
  const std::filesystem::path folder = folder_ / snapshot_folder(step_, /*is_exit=*/false);
  const std::filesystem::path target = folder / sdk::concat("rank", host_.rank(), "_trace.json.gz");
  make_private_folders(folder);
  const RawTrace raw(folder /
                     sdk::concat(".rank", host_.rank(), "_trace.", static_cast<std::int64_t>(::getpid()), ".tmp"));
  kineto_->stop(raw.path());
  if (!std::filesystem::exists(raw.path())) raw.require_space();
  const TraceOrigin origin{host_.rank(), host_.world_size(), device_ == TITAN_DEVICE_CUDA, first_recorded_, step_};
  write_trace_file(raw.path(), target, trace_head(origin, host_.config()),
                   [this](std::int64_t base_ns) { return timeline_.json(base_ns, ::getpid()); });
  const double size = static_cast<double>(std::filesystem::file_size(target)) / kMebibyte;
  host_.info(kTag, saved_line(first_recorded_, step_, target, size, monotonic_seconds() - begin));
}

void Profiler::run_end(const titan_run_end_event& /*event*/) {
  if (kineto_ && kineto_->is_recording()) stop_and_save();
  kineto_.reset();
}

void Profiler::begin_phase(const titan_span_event& event) {
  phases_.push_back(event);
  if (!backward_) return;
  sample_memory();
  if (event.phase == TITAN_IN_BACKWARD) backward_->close(phase_args(event));
}

void Profiler::end_phase(const titan_span_event& event) {
  if (phases_.empty()) return;
  const titan_span_event begin = phases_.back();
  phases_.pop_back();
  if (!backward_) return;
  sample_memory();
  if (event.phase == TITAN_IN_BACKWARD) backward_->close("{}");
  timeline_.add_span("phases", std::string(phase_name(begin.phase)), std::max(begin.time, recorded_since_), event.time,
                     phase_args(begin));
}

void Profiler::collective(const titan_collective_event& event) {
  // What began before the recording is cut, as an operator would be.
  if (!backward_ || event.completed < recorded_since_) return;
  const std::string_view group = sdk::view(event.group);
  timeline_.add_span(sdk::concat("collectives ", group), std::string(sdk::view(event.op)),
                     std::max(event.started, recorded_since_), event.completed,
                     JsonLine()
                         .add("group", group)
                         .add("group_size", std::int64_t{event.group_size})
                         .add("sequence", static_cast<std::int64_t>(event.sequence))
                         .add("module", sdk::view(event.module))
                         .add("input_bytes", event.input_bytes)
                         .add("output_bytes", event.output_bytes)
                         .add("state", event.state == TITAN_COLLECTIVE_COMPLETED ? "completed" : "failed")
                         .object());
}

void Profiler::sample_memory() {
  if (memory_ == nullptr) return;
  titan_memory_counters counters{};
  counters.struct_size = sizeof counters;
  memory_->counters(&counters);
  timeline_.add_counter("memory: tensors", monotonic_seconds(), static_cast<std::int64_t>(counters.live));
}

}  // namespace titan::observability
