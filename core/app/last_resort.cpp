#include "core/app/last_resort.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "core/app/rank_outcome.hpp"
#include "core/app/verdict.hpp"
#include "core/base/error.hpp"

namespace titan::app {
namespace {

constexpr std::string_view kText =
    "out of memory: the system gives this process no more: see its limits (ulimit -v, the container's) and what else "
    "runs on the machine";
constexpr std::size_t kReserveBytes = std::size_t{256} << 10U;

struct State {
  std::unique_ptr<char[]> reserve = std::make_unique<char[]>(kReserveBytes);
  std::terminate_handler before = nullptr;
  std::atomic<bool> is_ending{false};
};

/// Never destroyed: threads may come here while the process ends.
State& state() {
  static auto* const instance = new State;
  return *instance;
}

void say(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nowhere left to say so
}

[[noreturn]] void end_without_memory(Verdict verdict) {
  // Locks of the log may be held by this very thread.
  say("[titan] ERROR - ");
  say(kText);
  say("\n");
  verdict.message = concat("[titan] ", kText);
  try {
    tell_launcher(verdict);
  } catch (...) {
    // The status says it.
  }
  ::_exit(verdict.status);
}

void on_terminate() {
  State& mine = state();
  const std::exception_ptr thrown = std::current_exception();
  if (thrown != nullptr && !mine.is_ending.exchange(true)) {
    mine.reserve.reset();
    Verdict verdict = judge(thrown);
    if (verdict.status == static_cast<int>(Exit::resource)) end_without_memory(std::move(verdict));
  }
  if (mine.before != nullptr) mine.before();
  std::abort();
}

}  // namespace

void install_last_resort() { state().before = std::set_terminate(on_terminate); }

}  // namespace titan::app
