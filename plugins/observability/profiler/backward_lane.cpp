#include "plugins/observability/profiler/backward_lane.hpp"

#include <ATen/record_function.h>

#include <utility>

#include "plugins/observability/clocks.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kLane = "backward of modules";

/// The lane of the thread, for a callback that has no context.
BackwardLane*& lane_of_thread() {
  thread_local BackwardLane* instance = nullptr;
  return instance;
}

}  // namespace

struct BackwardLane::Callback {
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& node) {
    BackwardLane* lane = lane_of_thread();
    if (lane == nullptr) return nullptr;
    // Nodes that sum gradients belong to no forward.
    const std::uint32_t module = module_of_node(node.seqNr());
    if (module != TITAN_MODULE_ROOT && node.seqNr() >= 0) lane->enter(module);
    return nullptr;
  }
};

BackwardLane::BackwardLane(const ModuleScopes& modules, Timeline& timeline) : modules_(modules), timeline_(timeline) {
  callback_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&Callback::begin).scopes({at::RecordScope::BACKWARD_FUNCTION}));
  lane_of_thread() = this;
}

BackwardLane::~BackwardLane() {
  lane_of_thread() = nullptr;
  at::removeCallback(callback_);
}

void BackwardLane::enter(titan_module module) {
  if (module == current_) return;
  current_ = module;
  const std::vector<titan_module> wanted = modules_.lineage(module);
  std::size_t common = 0;
  while (common < open_.size() && common < wanted.size() && open_[common].module == wanted[common]) ++common;
  const double now = monotonic_seconds();
  close_beyond(common, now);
  for (std::size_t i = common; i < wanted.size(); ++i) open_.push_back({wanted[i], now});
}

void BackwardLane::close_beyond(std::size_t depth, double now) {
  while (open_.size() > depth) {
    const Open done = open_.back();
    open_.pop_back();
    timeline_.add_span(kLane, modules_.name(done.module), done.begin, now, args_);
  }
}

void BackwardLane::close(std::string args) {
  close_beyond(0, monotonic_seconds());
  current_ = TITAN_MODULE_ROOT;
  args_ = std::move(args);
}

}  // namespace titan::observability
