#include "core/rehearsal/lines.hpp"

#include <algorithm>

namespace titan::rehearsal {
namespace {

/// What both sides take together.
double seconds_of(const Start& one, const Start& other) {
  return one.is_in_step && other.is_in_step ? std::max(one.seconds, other.seconds) : 0;
}

}  // namespace

std::size_t CollectiveLine::start(std::int32_t agent, const Start& start) {
  const auto place = static_cast<std::size_t>(std::ranges::lower_bound(agents_, agent) - agents_.begin());
  const std::size_t number = num_started_[place]++;
  if (number == calls_.size()) calls_.push_back({agents_.size(), 0, true, {}});
  Call& call = calls_[number];
  call.moment.ready = std::max(call.moment.ready, start.time);
  call.seconds = std::max(call.seconds, start.seconds);
  call.is_in_step = call.is_in_step && start.is_in_step;
  if (--call.num_missing == 0) {
    // All members have started those before, too.
    call.moment.done = std::max(call.moment.ready, free_) + (call.is_in_step ? call.seconds : 0);
    free_ = call.moment.done;
  }
  return number;
}

std::vector<std::int32_t> CollectiveLine::missing(std::size_t number) const {
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (num_started_[i] <= number) found.push_back(agents_[i]);
  }
  return found;
}

std::size_t TransferLine::start(bool is_send, const Start& start) {
  (is_send ? sends_ : receives_).push_back(calls_.size());
  calls_.push_back({is_send, false, start, {}});
  return calls_.size() - 1;
}

void TransferLine::finish(std::size_t number, const Moment& moment) {
  calls_[number].is_over = true;
  calls_[number].moment = moment;
  free_ = std::max(free_, moment.done);
}

bool TransferLine::meet(TransferLine& one, TransferLine& other) {
  bool was_done = false;
  while (one.head_ < one.calls_.size() && other.head_ < other.calls_.size()) {
    const Call &here = one.calls_[one.head_], &there = other.calls_[other.head_];
    // Two sends or two receives: both wait for ever.
    if (here.is_send == there.is_send) break;
    Moment moment;
    moment.ready = std::max(here.start.time, there.start.time);
    moment.done = std::max({moment.ready, one.free_, other.free_}) + seconds_of(here.start, there.start);
    one.finish(one.head_++, moment);
    other.finish(other.head_++, moment);
    was_done = true;
  }
  return was_done;
}

bool TransferLine::deliver(TransferLine& sender, TransferLine& receiver) {
  bool was_done = false;
  for (; sender.num_sent_ < sender.sends_.size(); ++sender.num_sent_, was_done = true) {
    const std::size_t number = sender.sends_[sender.num_sent_];
    const Start& start = sender.calls_[number].start;
    sender.finish(number, {start.time, std::max(start.time, sender.free_) + seconds_of(start, start)});
  }
  for (; receiver.num_received_ < std::min(receiver.receives_.size(), sender.sends_.size()); was_done = true) {
    const Moment& sent = sender.calls_[sender.sends_[receiver.num_received_]].moment;
    const std::size_t number = receiver.receives_[receiver.num_received_++];
    const double posted = receiver.calls_[number].start.time;
    receiver.finish(number, {std::max(sent.ready, posted), std::max(sent.done, posted)});
  }
  return was_done;
}

bool TransferLine::pass() {
  const std::size_t before = head_;
  for (; head_ < calls_.size(); ++head_) {
    const Start& start = calls_[head_].start;
    finish(head_, {start.time, std::max(start.time, free_) + seconds_of(start, start)});
  }
  return head_ > before;
}

}  // namespace titan::rehearsal
