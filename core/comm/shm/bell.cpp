#include "core/comm/shm/bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace titan::comm::shm {
namespace {

// Between processes: the kernel finds the waiters by the memory itself.
void call_futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value, const timespec* limit) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), what, value, limit, nullptr, 0);
}

}  // namespace

void ring(RankState& state) {
  if (state.sleepers.load() == 0) return;
  state.bell.fetch_add(1);
  call_futex(state.bell, FUTEX_WAKE, INT_MAX, nullptr);
}

Sleeper::Sleeper(RankState& state) : state_(state) {
  state_.sleepers.fetch_add(1);
  heard_ = state_.bell.load();
}

Sleeper::~Sleeper() { state_.sleepers.fetch_sub(1); }

void Sleeper::sleep(std::chrono::nanoseconds limit) {
  if (limit.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{static_cast<std::time_t>(seconds.count()), static_cast<long>((limit - seconds).count())};
  call_futex(state_.bell, FUTEX_WAIT, heard_, &time);
}

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

}  // namespace titan::comm::shm
