#include "core/comm/processes/inquiry.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <charconv>
#include <thread>

#include "core/base/text.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
// Beside the time until a rank looks for alarms; a busy machine may need longer.
constexpr auto kAnswerTime = std::chrono::milliseconds(1700);
constexpr auto kStoreTime = std::chrono::milliseconds(1500);
constexpr auto kPollDelay = std::chrono::milliseconds(50);
// Of a larger group the rank that was first to raise an alarm asks for all; one store cannot answer everybody.
constexpr std::size_t kSmallGroup = 32;

/// Splits "alarm\nhistory"; nothing when the answer is to an earlier alarm.
void read_answer(const std::string& text, std::int64_t alarm, std::int64_t rank, Testimony& testimony) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  const std::size_t end = text.find('\n');
  if (number < alarm || end == std::string::npos) return;
  testimony.answers.emplace(rank, CallHistory::decode(std::string_view(text).substr(end + 1)));
}

std::string with_module(const LoggedCall& call) {
  return call.module.empty() ? call.signature : concat(call.signature, " in module ", call.module);
}

std::string last_call(std::int64_t rank, const LoggedCall* last) {
  const std::string text = last == nullptr ? "none" : concat(with_module(*last), ", sequence ", last->sequence);
  return concat("; last call of rank ", rank, " in this group: ", text);
}

/// What is found about the ranks of a call.
struct Findings {
  std::vector<std::int64_t> gone;  // silent or left
  std::vector<std::int64_t> silent, left;
  std::vector<std::int64_t> behind;  // they answer, and have not made the call
  bool differ = false;
  std::string details;

  std::string text() const {
    std::vector<std::string> parts;
    // Ranks that answer may themselves be waiting for those that do not.
    const std::vector<std::int64_t>& missing = gone.empty() ? behind : gone;
    if (!missing.empty()) parts.push_back(concat("missing ", named_ranks(missing)));
    if (!silent.empty()) parts.push_back(concat("no answer from ", named_ranks(silent), ": stopped or dead"));
    if (!left.empty()) parts.push_back(concat(named_ranks(left), left.size() == 1 ? " has" : " have", " left the run"));
    if (!gone.empty() && !behind.empty()) parts.push_back(concat("not there yet either: ", named_ranks(behind)));
    if (differ) parts.emplace_back("the ranks' calls do not match");
    if (parts.empty()) {
      parts.emplace_back("all ranks answer and have made this call: their connections are stuck or slow");
    }
    return join(parts, "; ") + details;
  }
};

void compare(const WorkRecord& record, std::int64_t rank, const LoggedCall& mine, std::int64_t member,
             const CallHistory& history, Findings& findings) {
  const std::string stream = CallHistory::meeting_stream(record, rank);
  const LoggedCall* last = history.last(stream);
  if (last == nullptr || last->sequence < record.sequence) {
    findings.behind.push_back(member);
    findings.details += last_call(member, last);
    return;
  }
  const LoggedCall* met = history.find(stream, record.sequence);
  if (record.is_p2p || met == nullptr || met->signature == mine.signature) return;
  findings.differ = true;
  findings.details +=
      concat("; rank ", member, " calls ", with_module(*met), ", rank ", rank, " calls ", with_module(mine));
}

}  // namespace

Testimony question(Watch& watch, const std::vector<std::int64_t>& ranks, const std::function<bool()>& cut_short) {
  // Shared with a request that may run later than anybody waits for it.
  struct Round {
    std::int64_t alarm = 0;
    Testimony testimony;
  };
  const auto round = std::make_shared<Round>();
  const auto answer_time = kAnswerTime + watch.look_period();
  const Clock::time_point verdict_due = Clock::now() + answer_time + kStoreTime;
  bool answered = watch.ask([round](c10d::Store& store) { round->alarm = store.add(kAlarmKey, 1); }, kStoreTime);
  const bool asks = !answered || round->alarm <= 1 || ranks.size() <= kSmallGroup;
  while (answered && !asks && !cut_short() && Clock::now() < verdict_due) {
    std::this_thread::sleep_for(kPollDelay);
  }
  const Clock::time_point end = Clock::now() + answer_time;
  while (answered && !cut_short()) {
    answered = watch.ask_each(
        ranks,
        [round](c10d::Store& store, std::int64_t rank) {
          if (round->testimony.answers.count(rank) != 0) return;
          if (store.check({left_key(rank)})) round->testimony.left.insert(rank);
          if (!store.check({answer_key(rank)})) return;
          read_answer(store.get_to_str(answer_key(rank)), round->alarm, rank, round->testimony);
        },
        kStoreTime);
    if (answered && round->testimony.answers.size() == ranks.size()) break;
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(kPollDelay);
  }
  if (answered) return std::move(round->testimony);
  Testimony unknown;
  unknown.store_problem = watch.store_problem();
  if (unknown.store_problem.empty()) unknown.store_problem = "no answer";
  return unknown;
}

std::string verdict(const WorkRecord& record, std::int64_t rank, const LoggedCall& mine, const Testimony& testimony) {
  Findings findings;
  for (const std::int64_t member : record.members) {
    if (member == rank || (record.is_p2p && member != record.peer)) continue;
    const auto answer = testimony.answers.find(member);
    if (answer != testimony.answers.end()) {
      compare(record, rank, mine, member, answer->second, findings);
    } else {
      findings.gone.push_back(member);
      (testimony.left.count(member) != 0 ? findings.left : findings.silent).push_back(member);
    }
  }
  return findings.text();
}

}  // namespace titan::comm
