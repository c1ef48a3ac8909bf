#include "core/comm/cuda/late_watch.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace titan::comm {
namespace {

using Clock = TimedWork::Clock;
// Between two looks at works under way: as exact as their times in the records are.
constexpr auto kLookEvery = std::chrono::milliseconds(1);

}  // namespace

bool DeviceWork::join(Clock::time_point) {
  try {
    inner_->wait();
  } catch (...) {
    fail(std::current_exception());
  }
  return true;
}

void DeviceWork::look() {
  try {
    if (!inner_->isCompleted()) return;
    const std::exception_ptr problem = inner_->isSuccess() ? nullptr : inner_->exception();
    problem == nullptr ? complete() : fail(problem);
  } catch (...) {
    fail(std::current_exception());
  }
}

struct LateWatch::State {
  struct Entry {
    c10::intrusive_ptr<DeviceWork> work;
    WorkRecord record;
    Clock::time_point deadline;
  };

  Late late;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Entry> entries;
  bool ends = false, ended = false, told = false;

  void run() {
    std::unique_lock lock(mutex);
    while (!ends) {
      changed.wait(lock, [&] { return ends || !entries.empty(); });
      look(lock);
      if (!entries.empty()) changed.wait_for(lock, kLookEvery, [&] { return ends; });
    }
    ended = true;
    changed.notify_all();
  }

  /// A device does its works in order: the first that is not done tells about the rest.
  void look(std::unique_lock<std::mutex>& lock) {
    while (!entries.empty()) {
      entries.front().work->look();
      if (!entries.front().work->isCompleted()) break;
      entries.pop_front();
    }
    if (entries.empty() || told || Clock::now() < entries.front().deadline) return;
    const WorkRecord record = entries.front().record;
    lock.unlock();
    const Clock::time_point deadline = late(record);
    lock.lock();
    told = deadline <= Clock::now();
    // Only this thread takes works out.
    entries.front().deadline = deadline;
  }
};

LateWatch::LateWatch(Late late) : state_(std::make_shared<State>()) {
  state_->late = std::move(late);
  std::thread([state = state_] { state->run(); }).detach();
}

LateWatch::~LateWatch() {
  std::unique_lock lock(state_->mutex);
  state_->ends = true;
  state_->changed.notify_all();
  // A thread inside a driver that hangs is left behind.
  state_->changed.wait_for(lock, std::chrono::seconds(1), [&] { return state_->ended; });
}

void LateWatch::add(c10::intrusive_ptr<DeviceWork> work, const WorkRecord& record) {
  const std::lock_guard lock(state_->mutex);
  state_->entries.push_back({std::move(work), record, Clock::now() + std::chrono::milliseconds(record.timeout_ms)});
  state_->changed.notify_all();
}

}  // namespace titan::comm
