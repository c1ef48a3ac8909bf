#include "plugins/observability/memory/memory_watch.hpp"

#include <ATen/Parallel.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "plugins/observability/memory/cpp_stacks.hpp"
#include "plugins/observability/memory/quiet_lock.hpp"

namespace titan::observability {
namespace {

constexpr std::size_t kReserveBytes = std::size_t{32} << 20U;

/// Shared, so that texts found here live as long as the thread.
std::shared_ptr<const ModuleNames>& modules_of_thread() {
  thread_local std::shared_ptr<const ModuleNames> instance;
  return instance;
}

titan_place place_here(const titan_memory_v1* memory) {
  titan_place place{};
  place.struct_size = sizeof place;
  memory->here(&place);
  return place;
}

Where where_of(const titan_place& place, const RunningOperator& running, const ModuleNames* modules) {
  Where where{running.op,  running.node, sdk::view(place.module_name),
              place.phase, place.step,   purpose_of(running.scope)};
  // Strategies allocate without an operator.
  if (where.purpose == Purpose::communication && *where.op == '\0') where.op = running.scope;
  if (where.module.empty()) where.module = module_of(running.scope);
  if (where.module.empty() && modules != nullptr && running.module < modules->size()) {
    where.module = (*modules)[running.module];
  }
  return where;
}

}  // namespace

MemoryReserve::MemoryReserve(std::size_t bytes)
    : memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes_(bytes) {}

MemoryReserve::~MemoryReserve() { release(); }

void MemoryReserve::release() {
  if (memory_ != MAP_FAILED) ::munmap(memory_, bytes_);
  memory_ = MAP_FAILED;
}

std::shared_ptr<MemoryWatch> MemoryWatch::join(sdk::Host host, Member& member,
                                               const std::optional<Recording>& recording) {
  static auto* mutex = new std::mutex;
  static auto* shared = new std::weak_ptr<MemoryWatch>;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<MemoryWatch> watch = shared->lock();
  if (watch == nullptr) {
    const auto* memory = host.require<titan_memory_v1>(TITAN_MEMORY_V1);
    watch = std::make_shared<MemoryWatch>(memory);
    host.check(memory->listen(&watch->shortages_));
    *shared = watch;
  }
  if (recording && watch->recorder_ == nullptr) {
    watch->record(*recording);
    host.check(watch->memory_->listen(&watch->events_));
  }
  const QuietLock seats(watch->mutex_);
  watch->seats_.emplace_back().member = &member;
  return watch;
}

MemoryWatch::MemoryWatch(const titan_memory_v1* memory) : memory_(memory), reserve_(kReserveBytes) {
  shortages_ = {sizeof shortages_, TITAN_MEMORY_OUT_OF_MEMORY, this, [](void* self, const titan_memory_event* event) {
                  static_cast<MemoryWatch*>(self)->tell_of_shortage(event->bytes);
                }};
  events_ = {sizeof events_, TITAN_MEMORY_ALLOC | TITAN_MEMORY_FREE, this,
             [](void* self, const titan_memory_event* event) { static_cast<MemoryWatch*>(self)->note(*event); }};
}

MemoryWatch::~MemoryWatch() {
  memory_->unlisten(&events_);
  memory_->unlisten(&shortages_);
}

void MemoryWatch::record(const Recording& recording) {
  watch_modules(*memory_);
  operators_.emplace();
  try {
    recorder_ = std::make_unique<Recorder>(recording.max_entries, recording.stacks ? &unwind_here : nullptr);
  } catch (const std::bad_alloc&) {
    throw sdk::Error(TITAN_ERROR_RESOURCE,
                     sdk::concat("[memory] profiler.memory_snapshot_max_entries: no memory for so many events: ",
                                 recording.max_entries, ": ", sizeof(RecordedEvent), " bytes each"));
  }
}

void MemoryWatch::leave(const Member& member) noexcept {
  std::unique_lock lock(mutex_);
  reported_.wait(lock, [&] { return reporting_ != &member; });
  seats_.erase(std::remove_if(seats_.begin(), seats_.end(), [&](const Seat& seat) { return seat.member == &member; }),
               seats_.end());
}

void MemoryWatch::adopt_thread(const Member& member, std::shared_ptr<const ModuleNames> modules) {
  modules_of_thread() = std::move(modules);
  const QuietLock lock(mutex_);
  for (Seat& seat : seats_) {
    if (seat.member != &member) continue;
    seat.thread = std::this_thread::get_id();
    seat.activity = activity_of_this_thread();
    seat.modules = modules_of_thread();
  }
}

titan_memory_counters MemoryWatch::counters() const {
  titan_memory_counters now{};
  now.struct_size = sizeof now;
  memory_->counters(&now);
  return now;
}

std::uint64_t MemoryWatch::rest() const {
  const titan_memory_counters now = counters();
  if (now.limit != 0) return now.limit - std::min(now.live, now.limit);
  const long pages = ::sysconf(_SC_AVPHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

Where MemoryWatch::here() const {
  const titan_place place = place_here(memory_);
  if (place.phase < 0 && at::in_parallel_region()) {
    const QuietLock lock(mutex_);
    if (const Seat* seat = only_seat()) {
      return where_of(seat->member->place(), seat->activity->running(), seat->modules.get());
    }
  }
  return where_of(place, running_operator(), modules_of_thread().get());
}

const MemoryWatch::Seat* MemoryWatch::only_seat() const {
  return seats_.size() == 1 && seats_.front().activity != nullptr ? &seats_.front() : nullptr;
}

void MemoryWatch::note(const titan_memory_event& event) noexcept {
  const Where where = here_if_possible();
  if (event.action == TITAN_MEMORY_ALLOC) {
    recorder_->alloc(event.address, event.bytes, where);
  } else {
    recorder_->free(event.address, where);
  }
}

Where MemoryWatch::here_if_possible() const noexcept {
  try {
    return here();
  } catch (const std::exception&) {
    return {};
  }
}

MemoryWatch::Member* MemoryWatch::begin_report(bool& knows_state) {
  const QuietLock lock(mutex_);
  const auto mine = std::find_if(seats_.begin(), seats_.end(),
                                 [](const Seat& seat) { return seat.thread == std::this_thread::get_id(); });
  knows_state = mine != seats_.end() || (only_seat() != nullptr && at::in_parallel_region());
  Member* member = mine != seats_.end() ? mine->member : seats_.empty() ? nullptr : seats_.front().member;
  reporting_ = member;
  return member;
}

void MemoryWatch::end_report() {
  const QuietLock lock(mutex_);
  reporting_ = nullptr;
  reported_.notify_all();
}

void MemoryWatch::tell_of_shortage(std::uint64_t asked) noexcept {
  if (QuietLock::is_held()) return;
  const std::uint32_t number = gate_.begin(asked, ReportGate::Time::clock::now());
  if (number == 0) return;
  reserve_.release();
  report({asked, here_if_possible(), false, number});
  gate_.end(ReportGate::Time::clock::now());
}

void MemoryWatch::report(ShortageEvent event) {
  Member* member = begin_report(event.knows_state);
  if (recorder_ != nullptr) recorder_->out_of_memory(event.asked, rest(), event.where);
  if (member != nullptr) member->out_of_memory(event);
  end_report();
}

}  // namespace titan::observability
