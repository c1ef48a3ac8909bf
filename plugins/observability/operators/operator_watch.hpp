#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "titan/abi/memory.h"

namespace titan::observability {

/// What the calling thread does, as far as libtorch knows.
struct RunningOperator {
  // The innermost operator, "aten::mm", but for those that only make a tensor for another; empty: none. Lives as long
  // as the process.
  const char* op = "";
  const char* node = "";  // the autograd node whose backward runs: "MmBackward0"; empty: none. As long as the process
  std::uint32_t module = 0;  // in backward: the module whose forward made the node; 0: not known
  bool in_backward = false;
  const char* scope = "";  // the innermost RECORD_USER_SCOPE around it; empty: none. As long as the process
};

/// Follows the operators of every thread, while any of these lives: which runs, and for which module's forward a node
/// of the autograd graph was made. Costs some tens of nanoseconds an operator.
class OperatorWatch {
 public:
  OperatorWatch();
  ~OperatorWatch();
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;
};

/// [any thread] Empty where nothing is watched.
RunningOperator running_operator();

/// What one thread does, for others that work for it.
class ThreadActivity {
 public:
  /// [its own thread]
  void show(const RunningOperator& running);
  /// [any thread] Without the scope.
  RunningOperator running() const;

 private:
  std::atomic<const char*> op_{""}, node_{""};
  std::atomic<std::uint32_t> module_{0};
};
/// The calling thread's.
std::shared_ptr<const ThreadActivity> activity_of_this_thread();

/// The module whose forward made a node of the calling thread's autograd graph, by the node's sequence number; 0: not
/// known. Nodes that were made while nobody watched are not known.
std::uint32_t module_of_node(std::int64_t sequence_number);

/// The module that runs, told by the host; for the watch. [any thread] 0: none.
using ModuleSource = std::uint32_t (*)();
void set_module_source(ModuleSource source);
/// Makes the host, which knows where each thread's rank is, the source. `host` lives as long as the process.
void watch_modules(const titan_memory_v1& host);

}  // namespace titan::observability
