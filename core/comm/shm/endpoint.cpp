#include "core/comm/shm/endpoint.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/comm/shm/bell.hpp"
#include "core/comm/shm/patience.hpp"

namespace titan::comm::shm {
namespace {

// Such a call is begun by whoever makes it; of larger ones the helper takes care while the caller goes on.
constexpr std::uint64_t kSmallCall = std::uint64_t{64} << 10;

bool contains(const std::vector<std::size_t>& positions, std::size_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

}  // namespace

/// A thread that waits: the helper leaves things to it.
class Endpoint::Waiter {
 public:
  explicit Waiter(Endpoint& endpoint) : endpoint_(endpoint) { ++endpoint_.num_waiters_; }
  ~Waiter() {
    const std::lock_guard lock(endpoint_.mutex_);
    --endpoint_.num_waiters_;
    if (!endpoint_.is_idle_locked()) endpoint_.call_helper_locked();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

 private:
  Endpoint& endpoint_;
};

Endpoint::Endpoint(std::shared_ptr<Segment> segment, std::size_t position, std::vector<std::int64_t> members)
    : seat_{std::move(segment), position},
      members_(std::move(members)),
      is_crowded_(static_cast<long>(seat_.size()) > ::sysconf(_SC_NPROCESSORS_ONLN)),
      lanes_(seat_),
      helper_([this] { help(); }) {}

Endpoint::~Endpoint() { stop(); }

void Endpoint::submit(c10::intrusive_ptr<TimedWork> work, const Make& make) {
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr) return work->fail(failure_);
  calls_.push_back({std::move(work), make(seat_)});
  if (calls_.size() == 1 && calls_.front().collective->bytes() <= kSmallCall) {
    while (advance_collective_locked()) continue;
  }
  if (!calls_.empty()) call_helper_locked();
}

void Endpoint::take_parcel(Parcel parcel, const std::function<void(Parcel parcel)>& take) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return parcel.work->fail("the connections were closed");
  parcel.work->begin();
  take(std::move(parcel));
  while (lanes_.advance()) continue;
  if (!lanes_.is_idle()) call_helper_locked();
}

void Endpoint::send(std::size_t peer, Parcel parcel) {
  take_parcel(std::move(parcel), [&](Parcel taken) { lanes_.send(peer, std::move(taken)); });
}

void Endpoint::receive(std::size_t peer, Parcel parcel) {
  take_parcel(std::move(parcel), [&](Parcel taken) { lanes_.receive(peer, std::move(taken)); });
}

bool Endpoint::await(TimedWork& work, Clock::time_point deadline) {
  if (work.isCompleted()) return true;
  const Waiter waiter(*this);
  Patience patience(seat_.state(), is_crowded_);
  const auto has_changed = [&] { return advance() || work.isCompleted(); };
  while (!work.isCompleted()) {
    if (advance()) {
      patience.reset();
      if (Clock::now() >= deadline) break;
    } else if (!work.isCompleted()) {
      if (!patience.wait(deadline, has_changed)) break;
      if (patience.should_look()) look_for_lost_ranks();
    }
  }
  return work.isCompleted();
}

bool Endpoint::advance() {
  const std::lock_guard lock(mutex_);
  return advance_locked();
}

bool Endpoint::advance_locked() {
  const bool moved = lanes_.advance();
  return advance_collective_locked() || moved;
}

bool Endpoint::advance_collective_locked() {
  if (calls_.empty()) return false;
  Call& call = calls_.front();
  if (call.work->isCompleted()) {
    // It was given up half-way: what comes next would meet its rest.
    fail_collectives_locked(std::make_exception_ptr(PeerError("an earlier call of this group was given up")));
    return true;
  }
  if (!call.has_begun) call.work->begin();
  call.has_begun = true;
  bool moved = false;
  try {
    moved = call.collective->advance();
  } catch (const std::exception&) {
    fail_collectives_locked(std::current_exception());
    return true;
  }
  if (!call.collective->is_done()) return moved;
  const c10::intrusive_ptr<TimedWork> work = std::move(call.work);
  // Whoever waits may look at the tensors' reference counts.
  calls_.pop_front();
  work->complete();
  return true;
}

void Endpoint::fail_collectives_locked(const std::exception_ptr& error) {
  if (failure_ == nullptr) failure_ = error;
  std::deque<Call> failed;
  failed.swap(calls_);
  for (Call& call : failed) {
    call.collective.reset();
    call.work->fail(error);
  }
}

void Endpoint::fail_all_locked(const std::string& text) {
  fail_collectives_locked(std::make_exception_ptr(PeerError(text)));
  for (std::size_t peer = 0; peer < seat_.size(); ++peer) lanes_.fail(peer, text);
}

std::string Endpoint::end_of(std::size_t position) const {
  if (seat_.segment->state(position).closed.load() != 0) {
    return concat("rank ", members_[position], " has closed its connections");
  }
  return seat_.segment->is_held(position) ? std::string()
                                          : concat("the process of rank ", members_[position], " has ended");
}

std::vector<std::size_t> Endpoint::awaited_locked() const {
  std::vector<std::size_t> found = lanes_.awaited();
  if (calls_.empty()) return found;
  for (const std::size_t position : calls_.front().collective->awaited()) {
    if (!contains(found, position)) found.push_back(position);
  }
  return found;
}

void Endpoint::look_for_lost_ranks() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::size_t, std::string>> lost;
  for (const std::size_t position : awaited_locked()) {
    if (std::string end = end_of(position); !end.empty()) lost.emplace_back(position, std::move(end));
  }
  if (lost.empty()) return;
  // What they did before counts.
  while (advance_locked()) continue;
  for (const auto& [position, end] : lost) {
    if (!calls_.empty() && contains(calls_.front().collective->awaited(), position)) {
      fail_collectives_locked(std::make_exception_ptr(PeerError(end)));
    }
    if (contains(lanes_.awaited(), position)) lanes_.fail(position, end);
  }
}

void Endpoint::close() noexcept {
  try {
    seat_.state().closed.store(1);
    for (std::size_t peer = 0; peer < seat_.size(); ++peer) ring(seat_.segment->state(peer));
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    fail_all_locked("the connections were closed");
  } catch (...) {
    // Nothing is left to be done: those who wait have their deadlines.
  }
}

void Endpoint::stop() noexcept {
  close();
  {
    const std::lock_guard lock(mutex_);
    helper_ends_ = true;
    helper_called_.notify_all();
  }
  ring(seat_.state());
  if (helper_.joinable()) helper_.join();
}

}  // namespace titan::comm::shm
