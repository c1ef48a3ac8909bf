#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/records.hpp"

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

/// What carries one rank's calls to the others. Used on the rank's training thread unless said otherwise.
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Joins the ranks of a channel of more than one. The backend's works are TimedWorks. PeerError, naming ranks, when
  /// they do not all come within the timeout.
  virtual c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts& facts, std::chrono::milliseconds timeout) = 0;

  /// Tells which call comes next. `record` lives until the call has been started.
  virtual void announce(const WorkRecord& record) = 0;

  /// Finds out why a call did not end by its deadline: "missing ranks 2: ...".
  virtual std::string explain_timeout(const WorkRecord& record) = 0;

  /// Adds to the text of a failed call what is known about the rank that caused it.
  virtual std::string explain_failure(const WorkRecord& record, const std::string& text) = 0;

  /// Suspends the deadlines of all ranks (on), or takes that back. Nests.
  virtual void hold(bool /*on*/) {}
  /// [any thread] Whether any rank has them suspended.
  virtual bool is_held() { return false; }

  /// [any thread] Makes every call of this rank fail, now and later, and tells the others. The first reason counts.
  virtual void abort(std::string_view reason) noexcept = 0;
};

}  // namespace titan::comm
