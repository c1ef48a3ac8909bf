#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/comm/shm/collective.hpp"
#include "core/comm/shm/lanes.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm::shm {

/// One rank's end of a channel. Whoever waits for a call carries the channel's calls out himself, so that small ones
/// need no other thread; a helper thread does so for calls that nobody waits for. Thread-safe.
class Endpoint {
 public:
  /// `members`: global ranks, by position.
  Endpoint(std::shared_ptr<Segment> segment, std::size_t position, std::vector<std::int64_t> members);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Takes a call of all ranks; they are done in the order in which they come. A small one begins at once.
  using Make = std::function<CollectivePtr(Seat& seat)>;
  void submit(c10::intrusive_ptr<TimedWork> work, const Make& make);
  void send(std::size_t peer, Parcel parcel);
  void receive(std::size_t peer, Parcel parcel);

  /// Waits for the end of a work of this endpoint. False: the deadline passed.
  bool await(TimedWork& work, TimedWork::Clock::time_point deadline);

  /// Takes part no longer: calls under way fail, here and where others need this rank for them.
  void close() noexcept;
  /// Ends the helper thread as well, and waits for that.
  void stop() noexcept;

 private:
  using Clock = TimedWork::Clock;
  struct Call {
    c10::intrusive_ptr<TimedWork> work;
    CollectivePtr collective;
    bool has_begun = false;
  };
  class Waiter;

  /// Does a piece of what can be done now. False: nothing.
  bool advance();
  bool advance_locked();
  bool advance_collective_locked();
  void fail_collectives_locked(const std::exception_ptr& error);
  void fail_all_locked(const std::string& text);
  /// Fails what waits for ranks that are not there any more.
  void look_for_lost_ranks();
  std::vector<std::size_t> awaited_locked() const;
  /// Why a rank will do nothing any more; empty: it may.
  std::string end_of(std::size_t position) const;
  void take_parcel(Parcel parcel, const std::function<void(Parcel parcel)>& take);

  bool is_idle_locked() const { return calls_.empty() && lanes_.is_idle(); }
  /// Whether others may have to wait for this rank.
  bool is_urgent_locked() const;
  void call_helper_locked();
  void help();
  void help_until_done(std::unique_lock<std::mutex>& lock);
  /// Rests until there is something that nobody does. False: the helper ends.
  bool rest(std::unique_lock<std::mutex>& lock);

  Seat seat_;
  std::vector<std::int64_t> members_;
  bool is_crowded_;
  std::mutex mutex_;
  Lanes lanes_;
  std::deque<Call> calls_;
  std::exception_ptr failure_;  // of the collectives
  bool is_closed_ = false;
  std::atomic<int> num_waiters_{0};
  std::condition_variable helper_called_;
  bool helper_is_needed_ = false, helper_sleeps_ = false, helper_ends_ = false;
  std::thread helper_;
};

}  // namespace titan::comm::shm
