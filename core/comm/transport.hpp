#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/records.hpp"
#include "core/comm/witness.hpp"

namespace c10d {
class Backend;
}  // namespace c10d

namespace titan::comm {

/// The ranks that talk over one channel, as one of them sees it.
struct ChannelFacts {
  std::string name;                   // tells channels of the run apart; the same on all its ranks
  std::vector<std::int64_t> members;  // global ranks, by position
  std::int64_t position = 0;          // of this rank
};

/// What is found out about a call that was not done.
struct Finding {
  std::string missing;  // "missing rank 1"; empty: nobody is
  std::string more;     // what else is known: ": rank 2 failed: ...", or lines that each begin with a line feed
};

/// What carries one rank's calls to the others. Used on the rank's training thread unless said otherwise.
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Whether other ranks get what this one hands over: false in a rehearsal.
  virtual bool moves_data() const { return true; }

  /// Joins the ranks of a channel of more than one. The backend's works are TimedWorks. PeerError, naming ranks, when
  /// they do not all come within the timeout.
  virtual c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts& facts, std::chrono::milliseconds timeout) = 0;

  /// Tells which call comes next. `record` lives until the call has been started.
  virtual void announce(const WorkRecord& record) = 0;

  /// Says where to ask what this rank is doing, for those who ask it. Call once, before anything else.
  virtual void introduce(std::shared_ptr<WitnessStand> /*stand*/) {}

  /// Says which call this rank waits for from now on; null: for none. The record lives until the next one is named.
  virtual void waits_for(const WorkRecord* /*record*/) {}

  /// Finds out why a call did not end by its deadline.
  virtual Finding explain_timeout(const WorkRecord& record) = 0;

  /// Finds out what is known about a failed call and the rank that caused it. `text` is the backend's.
  virtual Finding explain_failure(const WorkRecord& record, const std::string& text) = 0;

  /// Says that a call for which explain_timeout() was asked is done after all.
  virtual void recover() {}

  /// Suspends the deadlines of all ranks (on), or takes that back. Nests. PeerError when the others cannot be told.
  virtual void hold(bool on) = 0;
  /// [any thread] When any rank last had them suspended: now, while one has; long ago: none ever had.
  virtual std::chrono::steady_clock::time_point held_until() = 0;

  /// [any thread] Makes every call of this rank fail, now and later, and tells the others. The first reason counts.
  virtual void abort(std::string_view reason) noexcept = 0;
};

}  // namespace titan::comm
