#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/comm/threads/exchange.hpp"
#include "core/comm/timed_work.hpp"
#include "core/comm/transport.hpp"

namespace titan::comm {

/// Where the rank threads of one process meet: the rank that arrives last at a call does the work for all. Thread-safe.
class ThreadHub {
 public:
  using WorkPointer = c10::intrusive_ptr<TimedWork>;

  /// Makes a rank known; InternalError when it was there before.
  void join(std::int64_t rank);
  /// A rank takes part no longer: calls that still need it fail.
  void leave(std::int64_t rank);

  /// Takes part in the channel's call number record.sequence. PeerError when a rank is lost, or when an earlier rank
  /// made another call: then all calls of all ranks fail.
  WorkPointer arrive(const ChannelFacts& facts, const WorkRecord& record, Share share);
  /// Meets the peer's receive (or send) with the same tag, in order. Positions are of the channel.
  WorkPointer send(const ChannelFacts& facts, const WorkRecord& record, const at::Tensor& tensor, int peer, int tag);
  WorkPointer receive(const ChannelFacts& facts, const WorkRecord& record, const at::Tensor& tensor, int peer, int tag);

  /// Which ranks a call lacks, with the last call each of them made in the channel.
  Finding missing(const WorkRecord& record, std::int64_t rank);

  /// Suspends all deadlines, or takes one suspension back.
  void hold(bool on);
  /// When they last were suspended: now, while they are.
  TimedWork::Clock::time_point held_until();

  /// Makes all calls fail, now and later. The first reason counts.
  void abort(const std::string& reason);

 private:
  struct Arrival {
    Share share;
    WorkPointer work;  // null: not there
    std::string call;  // described, with its rank, for messages
  };
  struct Room {  // a channel's
    std::vector<std::int64_t> members;
    std::map<std::uint64_t, std::vector<Arrival>> meetings;  // by sequence number
    std::vector<std::string> last_calls;                     // by position
  };
  struct Parcel {
    at::Tensor tensor;
    WorkPointer work;
  };
  using Route = std::tuple<std::string, int, int, int>;  // channel, from, to, tag
  struct Post {
    std::deque<Parcel> sent, awaited;
  };

  Room& room(const ChannelFacts& facts);
  void check_alive(const std::vector<std::int64_t>& needed) const;
  void check_call(const Room& room, const std::vector<Arrival>& arrivals, const Arrival& arrival);
  void abort_locked(const std::string& reason);
  WorkPointer post(const ChannelFacts& facts, const WorkRecord& record, const at::Tensor& tensor, const Route& route,
                   bool sends);
  void finish(std::vector<Arrival>& arrivals);

  std::mutex mutex_;
  std::string failure_;
  std::int64_t num_holds_ = 0;
  TimedWork::Clock::time_point held_until_{};
  std::set<std::int64_t> joined_, left_;
  std::map<std::string, Room> rooms_;
  std::map<Route, Post> posts_;
};

}  // namespace titan::comm
