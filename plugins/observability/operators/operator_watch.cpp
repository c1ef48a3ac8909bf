#include "plugins/observability/operators/operator_watch.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace titan::observability {
namespace {

std::atomic<ModuleSource>& module_source() {
  static std::atomic<ModuleSource> instance{nullptr};
  return instance;
}

/// Names of nodes and scopes may be made anew each time: one copy of each is kept.
const char* kept_name(const char* name) {
  static auto* mutex = new std::mutex;
  static auto* names = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(*mutex);
  const auto found = names->find(std::string_view(name));
  return (found != names->end() ? found : names->emplace(name).first)->c_str();
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

/// The operators that run on one thread, outermost first.
struct ThreadOperators {
  static constexpr std::size_t kDepth = 32;
  std::array<RunningOperator, kDepth> stack;
  std::size_t depth = 0;  // may be more than the stack holds
  NodeModules modules;
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

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  ThreadOperators& mine = operators();
  RunningOperator now = running_operator();
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    now.node = kept_name(function.name());
    now.in_backward = true;
    now.module = mine.modules.of(function.seqNr());
  } else if (function.scope() == at::RecordScope::USER_SCOPE) {
    now.scope = kept_name(function.name());
  } else {
    if (*now.op == '\0' || !only_makes_a_tensor(function.name())) now.op = function.name();
    // What is recomputed in backward runs forward.
    const std::uint32_t module = module_now();
    if (module != 0) {
      now.module = module;
      mine.modules.note(function.seqNr(), module);
    }
  }
  if (mine.depth < ThreadOperators::kDepth) mine.stack[mine.depth] = now;
  ++mine.depth;
  return nullptr;
}

void end(const at::RecordFunction&, at::ObserverContext*) {
  ThreadOperators& mine = operators();
  if (mine.depth > 0) --mine.depth;
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
  shared.handle = at::addGlobalCallback(
      at::RecordFunctionCallback(begin, end)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
}

OperatorWatch::~OperatorWatch() {
  Registration& shared = registration();
  const std::lock_guard lock(shared.mutex);
  if (--shared.count == 0) at::removeCallback(shared.handle);
}

RunningOperator running_operator() {
  const ThreadOperators& mine = operators();
  if (mine.depth == 0) return {};
  return mine.stack[std::min(mine.depth, ThreadOperators::kDepth) - 1];
}

std::uint32_t module_of_node(std::int64_t sequence_number) { return operators().modules.of(sequence_number); }

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
