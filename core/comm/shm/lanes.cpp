#include "core/comm/shm/lanes.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "core/base/error.hpp"
#include "core/comm/shm/bell.hpp"

namespace titan::comm::shm {
namespace {

std::string other_size(std::uint64_t sent, std::uint64_t expected) {
  return concat("a send and its receive do not match: ", sent, " bytes are sent, ", expected, " are expected");
}

/// Ends a parcel's work. Whoever waits may look at the tensor's reference count.
void complete(Parcel& parcel) {
  parcel.tensor.reset();
  parcel.work->complete();
}

}  // namespace

Outgoing::Outgoing(Segment& segment, std::size_t me, std::size_t peer)
    : segment_(segment), me_(me), peer_(peer), lane_(segment.lane(me, peer)) {}

bool Outgoing::advance() {
  if (is_idle()) return false;
  const bool took = take_requests();
  const bool matched = match();
  return write() || took || matched;
}

bool Outgoing::take_requests() {
  const std::uint64_t begin = lane_.num_taken.load(), end = lane_.num_requests.load();
  for (std::uint64_t number = begin; number < end; ++number) {
    asked_.push_back({number, lane_.requests[number % kNumRequests]});
  }
  if (begin == end) return false;
  lane_.num_taken.store(end);
  ring(segment_.state(peer_));
  return true;
}

bool Outgoing::match() {
  bool moved = false;
  for (auto asked = asked_.begin(); asked != asked_.end();) {
    const auto sent = std::find_if(sends_.begin(), sends_.end(),
                                   [&](const Parcel& parcel) { return parcel.tag == asked->request.tag; });
    if (sent == sends_.end()) {
      ++asked;
      continue;
    }
    transfers_.push_back({*asked, std::move(*sent)});
    sends_.erase(sent);
    asked = asked_.erase(asked);
    moved = true;
  }
  return moved;
}

bool Outgoing::write() {
  if (transfers_.empty()) return false;
  const std::uint64_t number = lane_.num_written.load();
  if (number == lane_.num_read.load() + kNumChunks) return false;
  if (!is_reserved_) {
    try {
      segment_.reserve_lane(me_, peer_);
    } catch (const std::system_error& error) {
      transfers_.front().parcel.work->fail(
          std::make_exception_ptr(ResourceError("[comm] a send has no memory: ", error.what())));
      transfers_.pop_front();
      return true;
    }
    is_reserved_ = true;
  }
  Transfer& transfer = transfers_.front();
  const std::uint64_t total = transfer.parcel.bytes(), expected = transfer.asked.request.bytes;
  // The receiver finds out from the total that it asked for something else.
  const std::uint64_t count = total == expected ? std::min<std::uint64_t>(total - transfer.num_sent, kChunkBytes) : 0;
  lane_.chunks[number % kNumChunks] = {transfer.asked.number, total, count};
  if (count > 0) std::memcpy(segment_.chunk(me_, peer_, number), transfer.parcel.data() + transfer.num_sent, count);
  transfer.num_sent += count;
  lane_.num_written.store(number + 1);
  ring(segment_.state(peer_));
  if (total != expected) transfer.parcel.work->fail(other_size(total, expected));
  if (total != expected || transfer.num_sent == total) {
    complete(transfer.parcel);
    transfers_.pop_front();
  }
  return true;
}

void Outgoing::fail(const std::string& text) {
  for (const Parcel& parcel : sends_) parcel.work->fail(text);
  for (const Transfer& transfer : transfers_) transfer.parcel.work->fail(text);
  sends_.clear();
  transfers_.clear();
}

Incoming::Incoming(Segment& segment, std::size_t me, std::size_t peer)
    : segment_(segment), me_(me), peer_(peer), lane_(segment.lane(peer, me)) {}

bool Incoming::advance() {
  if (is_idle()) return false;
  const bool requested = request();
  return read() || requested;
}

bool Incoming::request() {
  bool moved = false;
  while (!receives_.empty() && num_requested_ < lane_.num_taken.load() + kNumRequests) {
    Parcel& parcel = receives_.front();
    lane_.requests[num_requested_ % kNumRequests] = {parcel.tag, parcel.bytes()};
    requested_.emplace(num_requested_++, Transfer{std::move(parcel)});
    receives_.pop_front();
    moved = true;
  }
  if (!moved) return false;
  lane_.num_requests.store(num_requested_);
  ring(segment_.state(peer_));
  return true;
}

bool Incoming::read() {
  const std::uint64_t number = lane_.num_read.load();
  if (number == lane_.num_written.load()) return false;
  const ChunkHeader& chunk = lane_.chunks[number % kNumChunks];
  const auto found = requested_.find(chunk.request);
  bool is_whole = false;
  if (found != requested_.end()) {
    Transfer& transfer = found->second;
    if (chunk.total != transfer.parcel.bytes()) {
      transfer.parcel.work->fail(other_size(chunk.total, transfer.parcel.bytes()));
    } else if (chunk.bytes > 0) {
      std::memcpy(transfer.parcel.data() + transfer.num_received, segment_.chunk(peer_, me_, number), chunk.bytes);
      transfer.num_received += chunk.bytes;
    }
    is_whole = chunk.total != transfer.parcel.bytes() || transfer.num_received == chunk.total;
  }
  lane_.num_read.store(number + 1);
  ring(segment_.state(peer_));
  if (is_whole) {
    complete(found->second.parcel);
    requested_.erase(found);
  }
  return true;
}

void Incoming::fail(const std::string& text) {
  for (const Parcel& parcel : receives_) parcel.work->fail(text);
  for (const auto& [number, transfer] : requested_) transfer.parcel.work->fail(text);
  receives_.clear();
  requested_.clear();
}

Lanes::Lanes(const Seat& seat) : me_(seat.position) {
  for (std::size_t peer = 0; peer < seat.size(); ++peer) {
    outgoing_.emplace_back(*seat.segment, me_, peer);
    incoming_.emplace_back(*seat.segment, me_, peer);
  }
}

bool Lanes::advance() {
  bool moved = false;
  for (std::size_t peer = 0; peer < outgoing_.size(); ++peer) {
    moved = outgoing_[peer].advance() || moved;
    moved = incoming_[peer].advance() || moved;
  }
  return moved;
}

bool Lanes::is_idle() const {
  const auto idle = [](const auto& lane) { return lane.is_idle(); };
  return std::all_of(outgoing_.begin(), outgoing_.end(), idle) && std::all_of(incoming_.begin(), incoming_.end(), idle);
}

std::vector<std::size_t> Lanes::awaited() const {
  std::vector<std::size_t> found;
  for (std::size_t peer = 0; peer < outgoing_.size(); ++peer) {
    if (!outgoing_[peer].is_idle() || !incoming_[peer].is_idle()) found.push_back(peer);
  }
  return found;
}

void Lanes::fail(std::size_t peer, const std::string& text) {
  outgoing_[peer].fail(text);
  incoming_[peer].fail(text);
}

}  // namespace titan::comm::shm
