#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/comm/records.hpp"

namespace titan::comm {

/// One call, as other ranks compare it with theirs.
struct LoggedCall {
  std::uint64_t sequence = 0;
  std::string signature;  // "all_reduce of float32 [4]"
  std::string module;
};

/// What one rank did last in each channel, in a form that travels: newest last.
class CallHistory {
 public:
  /// The stream of calls that a record belongs to, as `rank` sees it: a channel's collectives, or one direction
  /// between two ranks.
  static std::string stream(const WorkRecord& record, std::int64_t rank);
  /// The stream of the calls that meet it on another rank.
  static std::string meeting_stream(const WorkRecord& record, std::int64_t rank);

  void add(const std::string& stream, LoggedCall call);
  /// The newest call of a stream, or null.
  const LoggedCall* last(const std::string& stream) const;
  const LoggedCall* find(const std::string& stream, std::uint64_t sequence) const;

  /// All calls, or the newest of each stream alone.
  std::string encode(bool newest_only = false) const;
  /// Reads what encode() wrote; lines that are not of that form are left out.
  static CallHistory decode(std::string_view text);

 private:
  std::map<std::string, std::deque<LoggedCall>> streams_;
};

/// A rank's own history. Thread-safe.
class CallLog {
 public:
  explicit CallLog(std::int64_t rank) : rank_(rank) {}

  void note(const WorkRecord& record);
  CallHistory history() const;

 private:
  std::int64_t rank_;
  mutable std::mutex mutex_;
  CallHistory history_;
};

}  // namespace titan::comm
