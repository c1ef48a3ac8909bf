#include "plugins/observability/memory/memory_tool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <thread>

#include "plugins/observability/memory/cpp_stacks.hpp"
#include "plugins/observability/memory/fit_estimate.hpp"
#include "plugins/observability/memory/snapshot_file.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kTag = "memory";
constexpr std::size_t kNumListed = 10;
constexpr int kMostTries = 20;

/// An option of another plugin, which may not be part of the run.
template <class T>
T value_or(const sdk::Config& config, std::string_view option, T otherwise) {
  try {
    return config.get<T>(option);
  } catch (const sdk::Error&) {
    return otherwise;
  }
}

}  // namespace

void MemoryTool::describe(sdk::Describe& declare) {
  declare.options({
      {"profiler.enable_memory_snapshot", false,
       "Record every block of memory with its operator, module and phase, and write snapshots for PyTorch's "
       "memory_viz: "
       "every memory_snapshot_freq steps, and when memory is out."},
      {"profiler.save_memory_snapshot_folder", sdk::Path{"profiling/memory_snapshot"},
       "Folder of memory snapshots, in the dump folder unless absolute."},
      {"profiler.memory_snapshot_freq", sdk::none<std::int64_t>,
       "Steps from one memory snapshot to the next. None: profiler.profile_freq.", sdk::above(0)},
      {"profiler.memory_snapshot_max_entries", 1'000'000,
       "Events of a snapshot's trace: older ones are dropped and counted; live blocks are always complete.",
       sdk::above(0)},
      {"profiler.memory_snapshot_stacks", "none",
       "Functions of C++ in memory snapshots, beside operator and module; slow.", sdk::one_of({"none", "cpp"})},
  });
}

ToolPointer MemoryTool::make(sdk::Host host) {
  if (host.find<titan_memory_v1>(TITAN_MEMORY_V1) == nullptr) return nullptr;
  return std::make_unique<MemoryTool>(host);
}

std::optional<MemoryTool::Snapshots> MemoryTool::read_snapshots(const sdk::Config& config) {
  if (!config.boolean("profiler.enable_memory_snapshot")) return std::nullopt;
  Snapshots read;
  read.folder =
      std::filesystem::path(config.string("dump_folder")) / config.string("profiler.save_memory_snapshot_folder");
  const auto freq = config.get<std::optional<std::int64_t>>("profiler.memory_snapshot_freq");
  read.freq = freq ? *freq : config.integer("profiler.profile_freq");
  read.max_entries = static_cast<std::size_t>(config.integer("profiler.memory_snapshot_max_entries"));
  read.stacks = config.string("profiler.memory_snapshot_stacks") == "cpp";
  return read;
}

MemoryTool::MemoryTool(sdk::Host host) : host_(host), snapshots_(read_snapshots(host.config())) {
  std::optional<MemoryWatch::Recording> recording;
  if (snapshots_) recording = {snapshots_->max_entries, snapshots_->stacks};
  watch_ = MemoryWatch::join(host, *this, recording);
}

MemoryTool::~MemoryTool() { watch_->leave(*this); }

void MemoryTool::attach(const sdk::GuardHandles& handles) {
  run_.emplace(handles);
  watch_->adopt_thread(*this, std::make_shared<const ModuleNames>(run_->module_names()));
}

void MemoryTool::step_end(const titan_step_event& event) {
  if (event.step % snapshots_->freq != 0) return;
  const StateBlocks state = run_ ? run_->blocks() : StateBlocks();
  try {
    const std::filesystem::path path = write(event.step, TITAN_IN_STEP, 0, state);
    say(TITAN_LOG_INFO, sdk::concat("snapshot of step ", event.step, ": ", path.native()));
  } catch (const std::exception& error) {
    // A folder that cannot be written now may be so at the next one.
    say(TITAN_LOG_WARNING, sdk::concat("the snapshot of step ", event.step, " is lost: ", error.what()));
  }
}

void MemoryTool::say(std::int32_t level, std::string_view line) const { host_.log(level, kTag, line); }

titan_place MemoryTool::place() const noexcept {
  titan_place nowhere{};
  nowhere.phase = -1;
  return run_ ? run_->place() : nowhere;
}

void MemoryTool::out_of_memory(const ShortageEvent& event) noexcept {
  try {
    report(event);
  } catch (const std::bad_alloc&) {
    say_incomplete("there is no memory for it");
  } catch (const std::exception& error) {
    say_incomplete(error.what());
  } catch (...) {
    say_incomplete("an exception of an unknown type");
  }
}

void MemoryTool::say_incomplete(std::string_view reason) const noexcept {
  try {
    say(TITAN_LOG_WARNING, sdk::concat("the report of what took the memory is not complete: ", reason));
  } catch (const std::exception&) {
    // Not even for this line: the error that ends the run says that memory is out.
  }
}

void MemoryTool::report(const ShortageEvent& event) {
  const Shortage shortage = shortage_of(event);
  const bool knows_state = run_ && event.knows_state;
  const StateBlocks state = knows_state ? run_->blocks() : StateBlocks();
  for (const std::string& line : report_lines(shortage, live_blocks(shortage, state))) say(TITAN_LOG_ERROR, line);
  if (knows_state) {
    for (const std::string& line : ways_to_fit(shortage, state)) say(TITAN_LOG_ERROR, line);
  }
  if (!snapshots_) {
    return say(TITAN_LOG_ERROR, "every block with its operator and module: --profiler.enable_memory_snapshot");
  }
  const std::filesystem::path path = write(shortage.step, shortage.phase, event.report, state);
  say(TITAN_LOG_ERROR, sdk::concat("snapshot of all blocks: ", path.native(), ": look at it with titan trace memory"));
}

Shortage MemoryTool::shortage_of(const ShortageEvent& event) const {
  const titan_memory_counters counters = watch_->counters();
  Shortage shortage;
  shortage.rank = host_.rank();
  shortage.asked = event.asked;
  shortage.op = *event.where.op != '\0' ? event.where.op : operator_on_stack();
  shortage.node = *event.where.node != '\0' ? event.where.node : node_on_stack();
  shortage.module = event.where.module;
  shortage.phase = event.where.phase;
  shortage.step = event.where.phase < 0 ? place().step : event.where.step;
  shortage.live = counters.live;
  shortage.peak = counters.peak;
  shortage.limit = counters.limit;
  shortage.is_recorded = watch_->recorder() != nullptr;
  return shortage;
}

LiveSet MemoryTool::live_blocks(const Shortage& shortage, const StateBlocks& state) const {
  if (!shortage.is_recorded) return live_set(shortage.live, state, kNumListed);
  LiveSet set;
  watch_->recorder()->inspect([&](const Recorder::View& view) { set = live_set(view, state, kNumListed); });
  return set;
}

std::vector<std::string> MemoryTool::ways_to_fit(const Shortage& shortage, const StateBlocks& state) const {
  const LiveSet kept = live_set(shortage.live, state, 0);
  const sdk::Config config = host_.config();
  FitFacts facts;
  facts.parameters = run_->parameter_bytes();
  facts.compute_forms = kept.of(BlockKind::parameter) - std::min(kept.of(BlockKind::parameter), facts.parameters);
  facts.gradients = kept.of(BlockKind::gradient);
  facts.optimizer_state = kept.of(BlockKind::optimizer_state);
  facts.buffers = kept.of(BlockKind::buffer);
  facts.rest = kept.unknown;
  facts.asked = shortage.asked;
  facts.live = shortage.live;
  facts.has_limit = shortage.limit != 0;
  facts.allowed = facts.has_limit ? shortage.limit : shortage.live;
  facts.phase = shortage.phase;
  facts.step = shortage.step;
  facts.share = run_->share_through(shortage.module);
  facts.num_blocks = run_->num_blocks();
  facts.tokens = config.integer("training.num_tokens_per_microbatch_per_dp_rank");
  facts.row = config.integer("training.max_context_length");
  facts.world_size = host_.world_size();
  facts.recomputes_all = value_or<std::string>(config, "activation_checkpoint.mode", "full") == "full";
  return fit_lines(facts);
}

std::filesystem::path MemoryTool::write(std::int64_t step, std::int32_t phase, std::uint32_t report,
                                        const StateBlocks& state) const {
  const std::string again = report > 1 ? sdk::concat("_", report) : std::string();
  const std::filesystem::path path = snapshots_->folder / snapshot_folder(step, report > 0) /
                                     sdk::concat("rank", host_.rank(), "_memory_snapshot", again, ".pickle");
  SnapshotFacts facts;
  facts.rank = host_.rank();
  facts.step = step;
  facts.phase = phase;
  facts.max_entries = snapshots_->max_entries;
  if (snapshots_->stacks) facts.symbolize = &symbolize;
  bool is_written = false;
  for (int tries = 1; !is_written; ++tries) {
    if (tries > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    watch_->recorder()->inspect([&](const Recorder::View& view) {
      const titan_memory_counters counters = watch_->counters();
      facts.limit = counters.limit;
      facts.allocated = counters.live;
      // Another thread's block may be counted and not be told of yet.
      if (counters.live != view.live_bytes && tries < kMostTries) return;
      write_snapshot(path, view, state, facts);
      is_written = true;
    });
  }
  return path;
}

}  // namespace titan::observability
