#include "core/comm/processes/inquiry.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <charconv>
#include <thread>

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
// Beside the time until a rank looks for alarms; a busy machine may need longer.
constexpr auto kAnswerTime = std::chrono::milliseconds(1700);
constexpr auto kStoreTime = std::chrono::milliseconds(1500);
constexpr auto kPollDelay = std::chrono::milliseconds(50);
// In a larger run the rank that was first to raise an alarm asks for all; one store cannot answer everybody.
constexpr std::size_t kSmallRun = 32;

/// Reads "alarm\nanswer"; nothing when the answer is to an earlier alarm.
void read_answer(const std::string& text, std::int64_t alarm, std::int64_t rank, Testimony& testimony) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  const std::size_t end = text.find('\n');
  if (number < alarm || end == std::string::npos) return;
  testimony.answers.emplace(rank, Answer::decode(std::string_view(text).substr(end + 1)));
}

/// An alarm, shared with requests that may run later than anybody waits for them.
struct Round {
  std::int64_t alarm = 0;
  Testimony testimony;

  void take(c10d::Store& store, std::int64_t rank) {
    if (testimony.answers.count(rank) != 0) return;
    if (store.check({left_key(rank)})) testimony.left.insert(rank);
    if (!store.check({answer_key(rank)})) return;
    read_answer(store.get_to_str(answer_key(rank)), alarm, rank, testimony);
  }
};

void sleep_while(const std::function<bool()>& needed, Clock::time_point end) {
  while (needed() && Clock::now() < end) std::this_thread::sleep_for(kPollDelay);
}

}  // namespace

Testimony question(Watch& watch, const Inquiry& inquiry, const std::function<bool()>& cut_short) {
  const auto round = std::make_shared<Round>();
  const auto answer_time = kAnswerTime + watch.look_period();
  const Clock::time_point verdict_due = Clock::now() + answer_time + kStoreTime;
  bool answered = watch.ask([round, cause = inquiry.cause, reason = inquiry.reason](
                                c10d::Store& store) { round->alarm = raise_alarm(store, cause, reason); },
                            kStoreTime);
  const bool is_first = round->alarm <= 1 || inquiry.everybody.size() <= kSmallRun;
  const std::vector<std::int64_t>& ranks = is_first ? inquiry.everybody : inquiry.members;
  const bool leaves_it_to_another = answered && ranks.size() > kSmallRun && !is_first;
  if (leaves_it_to_another) sleep_while([&] { return !cut_short(); }, verdict_due);
  const Clock::time_point end = Clock::now() + answer_time;
  while (answered && !cut_short()) {
    answered = watch.ask_each(
        ranks, [round](c10d::Store& store, std::int64_t rank) { round->take(store, rank); }, kStoreTime);
    if (answered && round->testimony.answers.size() == ranks.size()) break;
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(kPollDelay);
  }
  if (answered) {
    round->testimony.asked = {ranks.begin(), ranks.end()};
    return std::move(round->testimony);
  }
  Testimony unknown;
  unknown.store_problem = watch.store_problem();
  if (unknown.store_problem.empty()) unknown.store_problem = "no answer";
  return unknown;
}

}  // namespace titan::comm
