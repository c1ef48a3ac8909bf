#include "core/comm/threads/thread_hub.hpp"

#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {

void ThreadHub::join(std::int64_t rank) {
  const std::lock_guard lock(mutex_);
  TITAN_CHECK(joined_.insert(rank).second, "[comm] a rank joins twice: ", rank);
}

void ThreadHub::leave(std::int64_t rank) {
  const std::lock_guard lock(mutex_);
  left_.insert(rank);
  for (const auto& [name, room] : rooms_) {
    const auto member = std::find(room.members.begin(), room.members.end(), rank);
    if (member == room.members.end()) continue;
    const auto position = static_cast<std::size_t>(member - room.members.begin());
    for (const auto& [sequence, arrivals] : room.meetings) {
      if (arrivals[position].work == nullptr) return abort_locked(concat("rank ", rank, " has left the run"));
    }
  }
  for (const auto& [route, post] : posts_) {
    const auto& members = rooms_.at(std::get<0>(route)).members;
    const std::int64_t from = members[static_cast<std::size_t>(std::get<1>(route))];
    const std::int64_t to = members[static_cast<std::size_t>(std::get<2>(route))];
    if ((from == rank && !post.awaited.empty()) || (to == rank && !post.sent.empty())) {
      return abort_locked(concat("rank ", rank, " has left the run"));
    }
  }
}

ThreadHub::Room& ThreadHub::room(const ChannelFacts& facts) {
  Room& found = rooms_[facts.name];
  if (found.members.empty()) {
    found.members = facts.members;
    found.last_calls.resize(facts.members.size());
  }
  return found;
}

void ThreadHub::check_alive(const std::vector<std::int64_t>& needed) const {
  if (!failure_.empty()) throw PeerError(failure_);
  for (const std::int64_t rank : needed) {
    if (left_.count(rank) != 0) throw PeerError("rank ", rank, " has left the run");
  }
}

void ThreadHub::check_call(const Room& room, const std::vector<Arrival>& arrivals, const Arrival& arrival) {
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i].work == nullptr || signature(arrivals[i].share) == signature(arrival.share)) continue;
    abort_locked(concat("the ranks' calls do not match: rank ", room.members[i], " calls ", arrivals[i].call, "; ",
                        arrival.call));
    throw PeerError(failure_);
  }
}

ThreadHub::WorkPointer ThreadHub::arrive(const ChannelFacts& facts, const WorkRecord& record, Share share) {
  const auto position = static_cast<std::size_t>(facts.position);
  Arrival arrival{std::move(share), c10::make_intrusive<TimedWork>(), {}};
  const std::string module = record.module.empty() ? "" : concat(" in module ", record.module);
  arrival.call = signature(arrival.share) + module;
  WorkPointer work = arrival.work;

  std::unique_lock lock(mutex_);
  Room& here = room(facts);
  if (!failure_.empty()) throw PeerError(failure_);
  std::vector<Arrival>& arrivals = here.meetings[record.sequence];
  arrivals.resize(here.members.size());
  Arrival described = arrival;
  described.call = concat("rank ", facts.members[position], " calls ", arrival.call);
  check_call(here, arrivals, described);
  arrivals[position] = std::move(arrival);
  here.last_calls[position] = concat(record.op, ", sequence ", record.sequence, module);
  std::vector<std::int64_t> absent;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i].work == nullptr) absent.push_back(here.members[i]);
  }
  if (!absent.empty()) {
    check_alive(absent);
    return work;
  }
  std::vector<Arrival> complete = std::move(arrivals);
  here.meetings.erase(record.sequence);
  lock.unlock();
  finish(complete);
  return work;
}

void ThreadHub::finish(std::vector<Arrival>& arrivals) {
  std::vector<Share> shares;
  for (Arrival& arrival : arrivals) {
    arrival.work->begin();
    shares.push_back(std::move(arrival.share));
  }
  std::exception_ptr failure;
  try {
    exchange(shares);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  if (failure != nullptr) abort(error_text(failure));
  // The shares' tensors are let go first: who waits may look at their reference counts.
  shares.clear();
  for (const Arrival& arrival : arrivals) failure == nullptr ? arrival.work->complete() : arrival.work->fail(failure);
}

ThreadHub::WorkPointer ThreadHub::send(const ChannelFacts& facts, const WorkRecord& record, const at::Tensor& tensor,
                                       int peer, int tag) {
  return post(facts, record, tensor, {facts.name, static_cast<int>(facts.position), peer, tag}, true);
}

ThreadHub::WorkPointer ThreadHub::receive(const ChannelFacts& facts, const WorkRecord& record, const at::Tensor& tensor,
                                          int peer, int tag) {
  return post(facts, record, tensor, {facts.name, peer, static_cast<int>(facts.position), tag}, false);
}

ThreadHub::WorkPointer ThreadHub::post(const ChannelFacts& facts, const WorkRecord& record, const at::Tensor& tensor,
                                       const Route& route, bool sends) {
  Parcel mine{tensor, c10::make_intrusive<TimedWork>()};
  const WorkPointer work = mine.work;
  std::unique_lock lock(mutex_);
  room(facts);
  check_alive({});
  Post& post = posts_[route];
  auto& own = sends ? post.sent : post.awaited;
  auto& others = sends ? post.awaited : post.sent;
  if (others.empty()) {
    check_alive({record.peer});
    own.push_back(std::move(mine));
    return work;
  }
  Parcel theirs = std::move(others.front());
  others.pop_front();
  const at::Tensor& from = sends ? mine.tensor : theirs.tensor;
  const at::Tensor& to = sends ? theirs.tensor : mine.tensor;
  if (from.sizes() != to.sizes() || from.scalar_type() != to.scalar_type()) {
    abort_locked(concat("a send and its receive do not match: position ", std::get<1>(route), " sends ", describe(from),
                        " with tag ", std::get<3>(route), ", position ", std::get<2>(route), " receives ",
                        describe(to)));
    theirs.work->fail(failure_);
    throw PeerError(failure_);
  }
  lock.unlock();
  mine.work->begin();
  theirs.work->begin();
  try {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    to.copy_(from);
  } catch (const std::exception&) {
    theirs.work->fail(std::current_exception());
    throw;
  }
  mine.work->complete();
  theirs.work->complete();
  return work;
}

Finding ThreadHub::missing(const WorkRecord& record, std::int64_t rank) {
  const std::lock_guard lock(mutex_);
  if (record.is_p2p) return {concat("missing rank ", record.peer), {}};
  const auto room = rooms_.find(record.channel);
  if (room == rooms_.end()) return {};
  const auto meeting = room->second.meetings.find(record.sequence);
  if (meeting == room->second.meetings.end()) return {};
  std::vector<std::int64_t> absent;
  std::string last_calls;
  for (std::size_t i = 0; i < meeting->second.size(); ++i) {
    const std::int64_t member = room->second.members[i];
    if (meeting->second[i].work != nullptr || member == rank) continue;
    absent.push_back(member);
    const std::string& last = room->second.last_calls[i];
    last_calls += concat("\n  rank ", member, ": last call in this group: ", last.empty() ? "none" : last);
  }
  return {concat("missing ", named_ranks(absent)), last_calls};
}

void ThreadHub::hold(bool on) {
  const std::lock_guard lock(mutex_);
  num_holds_ += on ? 1 : -1;
  held_until_ = TimedWork::Clock::now();
}

TimedWork::Clock::time_point ThreadHub::held_until() {
  const std::lock_guard lock(mutex_);
  return num_holds_ > 0 ? TimedWork::Clock::now() : held_until_;
}

void ThreadHub::abort(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  abort_locked(reason);
}

void ThreadHub::abort_locked(const std::string& reason) {
  if (!failure_.empty()) return;
  failure_ = reason.empty() ? "the run was given up" : reason;
  for (auto& [name, room] : rooms_) {
    for (auto& [sequence, arrivals] : room.meetings) {
      for (const Arrival& arrival : arrivals) {
        if (arrival.work != nullptr) arrival.work->fail(failure_);
      }
    }
    room.meetings.clear();
  }
  for (auto& [route, post] : posts_) {
    for (const auto* parcels : {&post.sent, &post.awaited}) {
      for (const Parcel& parcel : *parcels) parcel.work->fail(failure_);
    }
  }
  posts_.clear();
}

}  // namespace titan::comm
