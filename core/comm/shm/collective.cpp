#include "core/comm/shm/collective.hpp"

#include "core/base/error.hpp"
#include "core/comm/shm/bell.hpp"

namespace titan::comm::shm {

Collective::Collective(Seat& seat, CallHeader header, bool is_combined)
    : seat_(seat), header_(header), is_combined_(is_combined) {}

std::byte* Collective::buffer(std::size_t position, std::uint64_t round) const {
  return seat_.segment->buffer(position, first_round_ + round);
}

template <class Counter>
bool Collective::all_reach(Counter counter, std::uint64_t value) const {
  for (std::size_t peer = 0; peer < size(); ++peer) {
    if (peer != me() && reads(peer) && (seat_.segment->state(peer).*counter).load() < value) return false;
  }
  return true;
}

void Collective::tell(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  counter.store(value);
  for (std::size_t peer = 0; peer < size(); ++peer) {
    if (peer != me()) ring(seat_.segment->state(peer));
  }
}

bool Collective::advance() {
  // Calls of a channel are made one after the other: only now is it known where this one begins.
  if (!is_begun_) first_round_ = seat_.next_round;
  is_begun_ = true;
  // The others need what this rank publishes before anything else.
  const bool moved = try_publish() || try_combine() || try_collect();
  if (is_done()) seat_.next_round = first_round_ + num_rounds_;
  return moved;
}

bool Collective::try_publish() {
  if (num_published_ == num_rounds_) return false;
  const std::uint64_t round = first_round_ + num_published_;
  for (std::size_t peer = 0; peer < size(); ++peer) {
    if (peer != me() && seat_.segment->state(peer).consumed.load() + kNumBuffers <= round) return false;
  }
  // The own part is reduced into the buffer, and stays there until it was reduced.
  if (num_published_ == num_collected_ + kNumBuffers) return false;
  if (num_published_ == 0) {
    seat_.segment->header(me(), round) = header_;
    describe(seat_.segment->sent(me(), round));
  }
  publish(num_published_++);
  tell(seat_.state().published, round + 1);
  return true;
}

bool Collective::has_begun() {
  if (is_checked_) return true;
  if (!all_reach(&RankState::published, first_round_ + 1)) return false;
  check_headers();
  agree();
  is_checked_ = is_known_ = true;
  return true;
}

void Collective::check_headers() {
  for (std::size_t peer = 0; peer < size(); ++peer) {
    if (peer == me() || !reads(peer) || seat_.segment->header(peer, first_round_) == header_) continue;
    throw PeerError("the ranks' calls do not match: position ", peer, " of the group has made another one");
  }
}

bool Collective::try_combine() {
  if (!is_combined_ || num_combined_ == num_published_) return false;
  const std::uint64_t round = first_round_ + num_combined_;
  if (!all_reach(&RankState::published, round + 1) || !has_begun()) return false;
  combine(num_combined_++);
  tell(seat_.state().combined, round + 1);
  return true;
}

bool Collective::try_collect() {
  if (num_collected_ == (is_combined_ ? num_combined_ : num_published_)) return false;
  const std::uint64_t round = first_round_ + num_collected_;
  const auto counter = is_combined_ ? &RankState::combined : &RankState::published;
  if (!all_reach(counter, round + 1) || !has_begun()) return false;
  collect(num_collected_++);
  tell(seat_.state().consumed, round + 1);
  return true;
}

std::vector<std::size_t> Collective::awaited() const {
  std::vector<std::size_t> found;
  const std::uint64_t first = is_begun_ ? first_round_ : seat_.next_round;
  for (std::size_t peer = 0; peer < size(); ++peer) {
    if (peer == me()) continue;
    const RankState& state = seat_.segment->state(peer);
    const bool holds_buffer =
        num_published_ < num_rounds_ && state.consumed.load() + kNumBuffers <= first + num_published_;
    const auto lags = [&](const std::atomic<std::uint64_t>& counter, std::uint64_t done, std::uint64_t before) {
      return done < before && reads(peer) && counter.load() <= first + done;
    };
    if (holds_buffer || (is_combined_ && lags(state.published, num_combined_, num_published_)) ||
        lags(is_combined_ ? state.combined : state.published, num_collected_,
             is_combined_ ? num_combined_ : num_published_)) {
      found.push_back(peer);
    }
  }
  return found;
}

}  // namespace titan::comm::shm
