#include "plugins/parallel/activation_checkpoint/operator_watch.hpp"

#include <ATen/record_function.h>

#include <utility>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

// Below autograd, and above what makes operators of others at run time. libtorch's C++ registers nothing there, and no
// operator has a kernel for it by an alias: CustomRNGKeyId and the like are backends, which structured operators serve
// with their out= forms.
constexpr DispatchKey kWatchKey = DispatchKey::Fake;

thread_local OperatorWatcher* current = nullptr;  // set by OperatorWatch only

/// Whether the operator will only call others, which are seen themselves.
bool is_made_of_others(const c10::OperatorHandle& op, DispatchKeySet keys) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !op.hasKernelForDispatchKey(keys.highestPriorityTypeId());
}

void run_watched(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  const DispatchKeySet below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kWatchKey);
  OperatorWatcher* watcher = current;
  if (watcher == nullptr || is_made_of_others(op, below)) return op.redispatchBoxed(below, stack);
  const c10::impl::ExcludeDispatchKeyGuard without_its_parts(kWatchKey);
  if (watcher->answer(op, *stack)) {
    RECORD_USER_SCOPE("activation_checkpoint::kept");  // for who counts what is computed
  } else {
    op.redispatchBoxed(below, stack);
  }
  watcher->done(op, *stack);
}

/// Registers with libtorch, once a process. Never undone: plugins are not unloaded.
void require_registration() {
  static const bool is_ours = [] {
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    if (dispatcher.hasBackendFallbackForDispatchKey(kWatchKey)) return false;
    static const auto* const registration = new c10::RegistrationHandleRAII(dispatcher.registerFallback(
        kWatchKey, c10::KernelFunction::makeFromBoxedFunction<&run_watched>(), "titan activation checkpointing"));
    return registration != nullptr;
  }();
  if (is_ours) return;
  throw sdk::InternalError(
      "[activation_checkpoint] something else in this process watches libtorch's operators (dispatch key Fake): use "
      "--activation_checkpoint.mode full with --activation_checkpoint.determinism_check none");
}

}  // namespace

OperatorWatch::OperatorWatch(OperatorWatcher& watcher)
    : before_((require_registration(), std::exchange(current, &watcher))), is_watched_(kWatchKey) {}

OperatorWatch::~OperatorWatch() { current = before_; }

}  // namespace titan::parallel
