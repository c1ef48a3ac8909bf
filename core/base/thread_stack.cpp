#include "core/base/thread_stack.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>

#include "core/base/text.hpp"

namespace titan {
namespace {

constexpr int kSignal = SIGURG;
constexpr int kDeepest = 64;
// The handler's own, and the one through which the kernel returns from it.
constexpr int kFramesOfTheHandler = 2;

enum State : int { kIdle, kAsked, kLooking, kDone };

// What the handler and the one who asks share; who asks holds the mutex.
constinit std::atomic<int> state{kIdle};
constinit std::atomic<pid_t> asked_thread{0};
constinit std::atomic<bool> is_enabled{false};
constinit std::array<void*, kDeepest> addresses{};
constinit int num_addresses = 0;
constinit std::mutex mutex;

pid_t own_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

void look(int) {
  const int error_before = errno;
  int expected = kAsked;
  if (asked_thread.load() == own_thread() && state.compare_exchange_strong(expected, kLooking)) {
    num_addresses = ::backtrace(addresses.data(), kDeepest);
    state.store(kDone);
  }
  errno = error_before;
}

/// Waits for the handler; false: it did not come in time.
bool await_handler(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (state.load() != kDone && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  int expected = kAsked;
  if (state.compare_exchange_strong(expected, kIdle)) return false;
  return state.load() == kDone;
}

bool is_of_the_system(const FunctionName& function) {
  constexpr std::array<std::string_view, 11> kLibraries{"libtorch",    "libc10",    "libc.so",    "libc-",
                                                        "libstdc++",   "libgomp",   "libpthread", "libm.so",
                                                        "libgcc_s.so", "ld-linux-", "libmkl"};
  return std::ranges::any_of(kLibraries, [&](std::string_view name) { return function.library.starts_with(name); });
}

std::string name_of(const FunctionName& function) {
  // A just-in-time compiler's, as those of oneDNN and MKL: no library has it.
  if (function.library.empty()) return "generated code";
  const bool is_offset = function.function.starts_with('+');
  return is_offset ? function.library + function.function : shortened(function.function, 120);
}

}  // namespace

void enable_thread_stacks() {
  if (is_enabled.exchange(true)) return;
  // The first call loads a library, which a signal handler must not.
  std::array<void*, 1> ignored{};
  ::backtrace(ignored.data(), 1);
  struct sigaction action = {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(kSignal, &action, nullptr);
}

std::vector<FunctionName> stack_of(pid_t thread, std::chrono::milliseconds limit) {
  const std::lock_guard lock(mutex);
  // A thread that never came back from looking has the buffer.
  if (!is_enabled || state.load() == kLooking) return {};
  asked_thread = thread;
  state = kAsked;
  if (::syscall(SYS_tgkill, ::getpid(), thread, kSignal) != 0) state = kIdle;
  if (state.load() == kIdle || !await_handler(limit)) return {};
  std::vector<FunctionName> functions;
  for (int i = kFramesOfTheHandler; i < num_addresses; ++i) {
    // A return address stands behind its call, which may be the last of its function.
    const auto before = i == kFramesOfTheHandler ? 0 : 1;
    functions.push_back(function_at(static_cast<const char*>(addresses[static_cast<std::size_t>(i)]) - before));
  }
  state = kIdle;
  return functions;
}

std::string stack_text(const std::vector<FunctionName>& functions, std::size_t count) {
  std::vector<std::string> names;
  for (const FunctionName& function : functions) {
    if (names.size() > count || function.function == "_start") break;
    if (!names.empty() && is_of_the_system(function)) continue;
    names.push_back(name_of(function));
  }
  // Code of that kind tells the walk up the stack nothing of who called it.
  const bool is_cut = functions.size() == 1 && functions.front().function != "main";
  return join(names, " < ") + (is_cut ? ", whose callers cannot be told" : "");
}

}  // namespace titan
