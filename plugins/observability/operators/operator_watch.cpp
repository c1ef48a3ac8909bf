#include "plugins/observability/operators/operator_watch.hpp"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace titan::observability {
namespace {

std::atomic<ModuleSource>& module_source() {
  static std::atomic<ModuleSource> instance{nullptr};
  return instance;
}

/// "SwigluFunction" of "torch::autograd::CppNode<titan::nn::(anonymous namespace)::SwigluFunction>".
std::string_view short_name(std::string_view name) {
  constexpr std::string_view kCustom = "torch::autograd::CppNode<";
  if (!name.starts_with(kCustom) || !name.ends_with('>')) return name;
  name = name.substr(kCustom.size(), name.size() - kCustom.size() - 1);
  const std::size_t space = name.rfind("::");
  return space == std::string_view::npos ? name : name.substr(space + 2);
}

/// Names of nodes and scopes may be made anew each time: one copy of each is kept.
const char* kept_name(std::string_view name) {
  static auto* mutex = new std::mutex;
  static auto* names = new std::map<std::string, std::string, std::less<>>;
  const std::lock_guard lock(*mutex);
  auto found = names->find(name);
  if (found == names->end()) found = names->emplace(name, short_name(name)).first;
  return found->second.c_str();
}

/// The same, asking all threads' names for new ones alone.
const char* known_name(std::string_view name) {
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  thread_local std::unordered_map<std::string, const char*, Hash, std::equal_to<>> mine;
  const auto found = mine.find(name);
  return found != mine.end() ? found->second : mine.emplace(name, kept_name(name)).first->second;
}

/// From which number on the nodes of the autograd graph belong to a module. Numbers grow as the thread records nodes.
class NodeModules {
 public:
  void note(std::int64_t number, std::uint32_t module) {
    if (number < 0) return;
    if (!entries_.empty() && number < entries_.back().number) return;  // a thread without nodes of its own
    if (!entries_.empty() && entries_.back().module == module) return;
    if (!entries_.empty() && entries_.back().number == number) {
      entries_.back().module = module;
      return;
    }
    // Half of them, at once: graphs that are so old have had their backward.
    if (entries_.size() >= kMost) entries_.erase(entries_.begin(), entries_.begin() + kMost / 2);
    entries_.push_back({number, module});
  }
  std::uint32_t of(std::int64_t number) const {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), number,
                                        [](std::int64_t wanted, const Entry& entry) { return wanted < entry.number; });
    return after == entries_.begin() ? 0 : std::prev(after)->module;
  }

 private:
  static constexpr std::ptrdiff_t kMost = 1 << 20;
  struct Entry {
    std::int64_t number;
    std::uint32_t module;
  };
  std::vector<Entry> entries_;
};

/// Which watch it is that runs: nobody saw what was made between two of them.
std::atomic<std::int64_t>& watch_number() {
  static std::atomic<std::int64_t> instance{0};
  return instance;
}

/// The operators that run on one thread, outermost first.
struct ThreadOperators {
  static constexpr std::size_t kDepth = 32;
  std::array<RunningOperator, kDepth> stack;
  std::size_t depth = 0;  // may be more than the stack holds
  NodeModules modules;
  std::int64_t first_unseen = 0;  // the number of the first node that is made after the last operator
  std::int64_t watch = 0;
  std::shared_ptr<ThreadActivity> activity = std::make_shared<ThreadActivity>();

  RunningOperator top() const { return depth == 0 ? RunningOperator() : stack[std::min(depth, kDepth) - 1]; }
  void show() const { activity->show(top()); }

  /// Says that an operator of a module begins. Nodes that were made since the one before are the module's too: a node
  /// of our own exists before its forward runs, and no operator tells of it.
  void note(std::uint32_t module) {
    begin_watch();
    if (module != 0) modules.note(first_unseen, module);
  }
  /// Nodes that were made since the watch before are nobody's.
  void begin_watch() {
    const std::int64_t now = watch_number().load(std::memory_order_relaxed);
    if (std::exchange(watch, now) == now) return;
    modules.note(first_unseen, 0);
    first_unseen = next_node();
  }
  void note_end() { first_unseen = next_node(); }
  std::uint32_t module_of(std::int64_t number) const { return number < first_unseen ? modules.of(number) : 0; }

 private:
  static std::int64_t next_node() { return static_cast<std::int64_t>(at::sequence_number::peek()); }
};

ThreadOperators& operators() {
  thread_local ThreadOperators instance;
  return instance;
}

std::uint32_t module_now() {
  const ModuleSource source = module_source().load(std::memory_order_relaxed);
  return source != nullptr ? source() : 0;
}

bool only_makes_a_tensor(std::string_view op) { return op.starts_with("aten::empty") || op == "aten::resize_"; }

/// The engine's mark around a node, which is told of as a node too.
bool is_node_mark(std::string_view op) { return op.starts_with("autograd::engine::"); }

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  ThreadOperators& mine = operators();
  RunningOperator now = running_operator();
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    now.node = known_name(function.name());
    now.in_backward = true;
    now.module = mine.module_of(function.seqNr());
  } else if (function.scope() == at::RecordScope::USER_SCOPE) {
    now.scope = known_name(function.name());
  } else {
    const bool is_passed_over =
        is_node_mark(function.name()) || (*now.op != '\0' && only_makes_a_tensor(function.name()));
    if (!is_passed_over) now.op = function.name();
    // What is recomputed in backward runs forward.
    const std::uint32_t module = module_now();
    if (module != 0) now.module = module;
    mine.note(module);
  }
  if (mine.depth < ThreadOperators::kDepth) mine.stack[mine.depth] = now;
  ++mine.depth;
  mine.show();
  return nullptr;
}

void end(const at::RecordFunction&, at::ObserverContext*) {
  ThreadOperators& mine = operators();
  if (mine.depth > 0) --mine.depth;
  mine.note_end();
  mine.show();
}

struct Registration {
  std::mutex mutex;
  int count = 0;
  at::CallbackHandle handle{};
};

Registration& registration() {
  static auto* instance = new Registration;
  return *instance;
}

}  // namespace

OperatorWatch::OperatorWatch() {
  Registration& shared = registration();
  const std::lock_guard lock(shared.mutex);
  if (shared.count++ > 0) return;
  ++watch_number();
  shared.handle = at::addGlobalCallback(
      at::RecordFunctionCallback(begin, end)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
  operators().begin_watch();
}

OperatorWatch::~OperatorWatch() {
  Registration& shared = registration();
  const std::lock_guard lock(shared.mutex);
  if (--shared.count == 0) at::removeCallback(shared.handle);
}

RunningOperator running_operator() { return operators().top(); }

void ThreadActivity::show(const RunningOperator& running) {
  op_.store(running.op, std::memory_order_relaxed);
  node_.store(running.node, std::memory_order_relaxed);
  module_.store(running.module, std::memory_order_relaxed);
}

RunningOperator ThreadActivity::running() const {
  RunningOperator seen;
  seen.op = op_.load(std::memory_order_relaxed);
  seen.node = node_.load(std::memory_order_relaxed);
  seen.module = module_.load(std::memory_order_relaxed);
  seen.in_backward = *seen.node != '\0';
  return seen;
}

std::shared_ptr<const ThreadActivity> activity_of_this_thread() { return operators().activity; }

std::uint32_t module_of_node(std::int64_t sequence_number) { return operators().module_of(sequence_number); }

void watch_modules(const titan_memory_v1& host) {
  static std::atomic<const titan_memory_v1*> known{nullptr};
  known = &host;
  set_module_source([]() -> std::uint32_t {
    titan_place place{};
    place.struct_size = sizeof place;
    known.load(std::memory_order_relaxed)->here(&place);
    return place.module;
  });
}

void set_module_source(ModuleSource source) { module_source().store(source, std::memory_order_relaxed); }

}  // namespace titan::observability
