#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Store;
}  // namespace c10d

namespace titan::comm {

/// How long a rank of another machine that holds all deadlines may give no sign of life before they count again.
inline constexpr std::chrono::milliseconds kHolderSilence = std::chrono::minutes(1);

/// A thread with a connection of its own to the ranks' store: looks there for the failure of another rank, for holds
/// and for alarms, and answers those, whatever the training thread is doing. Nobody ever waits for the store itself: it
/// may have died with its rank.
class Watch {
 public:
  struct Callbacks {
    /// A rank has failed: a TITAN_DUMP_* cause, and "rank 1 failed: ...". Called once.
    std::function<void(std::int32_t cause, const std::string& text)> failed;
    /// A rank has left the run without an error; what CallHistory::encode() made of its last calls.
    std::function<void(std::int64_t rank, const std::string& history)> left;
    /// What this rank answers to an alarm.
    std::function<std::string()> answer;
    /// A rank has raised an alarm: a TITAN_DUMP_* cause, and why. Called after the answer is in the store.
    std::function<void(std::int32_t cause, const std::string& reason)> alarmed;
  };

  /// The more ranks there are, the less often each looks: all ask one store.
  Watch(c10::intrusive_ptr<c10d::Store> store, std::int64_t rank, std::int64_t num_ranks, Callbacks callbacks,
        std::chrono::milliseconds holder_silence = kHolderSilence);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// [any thread] Runs `request` on the watch's thread. False when that was not done within the limit, or the store
  /// is lost.
  bool ask(std::function<void(c10d::Store& store)> request, std::chrono::milliseconds limit);
  /// [any thread] Runs `request` for each of the ranks, so many at a time as a busy store does within the limit. False
  /// when one such piece was not done within it, or the store is lost: the rest is then left out.
  bool ask_each(const std::vector<std::int64_t>& ranks,
                const std::function<void(c10d::Store& store, std::int64_t rank)>& request,
                std::chrono::milliseconds limit);
  /// [any thread] When a rank last held the deadlines of all, as far as this one has seen: now, while one does.
  std::chrono::steady_clock::time_point held_until() const;
  /// [any thread] Who held the deadlines and gives no sign of life any more: "rank 1"; empty: nobody.
  std::string silent_holder() const;
  /// Looks for a failure, an alarm and holds now.
  void look(std::chrono::milliseconds limit);
  /// How long something may stand in the store before this rank, or any other, sees it.
  std::chrono::milliseconds look_period() const;
  /// Why the store is lost; empty: it is not.
  std::string store_problem() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Says in the store that a rank fails: a TITAN_DUMP_* cause, and "rank 1 failed: ...". The first failure counts.
void post_failure(c10d::Store& store, std::int32_t cause, const std::string& text);

/// Says in the store that a rank leaves.
void post_leave(c10d::Store& store, std::int64_t rank, const std::string& history);

/// How many ranks have said so.
std::int64_t num_left(c10d::Store& store);

/// Raises an alarm and gives its number, from 1.
std::int64_t raise_alarm(c10d::Store& store, std::int32_t cause, const std::string& reason);

/// Begins a hold of all deadlines by the calling process, which is that rank, and gives its number.
std::int64_t post_hold(c10d::Store& store, std::int64_t rank);
/// Ends it. One whose process has ended does not count either, nor one of another machine that nobody there vouches
/// for: the watches of a machine do so for the processes that they see.
void end_hold(c10d::Store& store, std::int64_t number);

/// Keys of the store, below the run's prefix.
inline constexpr const char* kFailureReadKey = "failure_read";
std::string answer_key(std::int64_t rank);
std::string left_key(std::int64_t rank);

}  // namespace titan::comm
