#include "core/comm/processes/inquiry.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <charconv>
#include <thread>

#include "core/base/text.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
// Ranks look for alarms several times a second; a busy machine may need longer.
constexpr auto kAnswerTime = std::chrono::milliseconds(2000);
constexpr auto kStoreTime = std::chrono::milliseconds(1500);
constexpr auto kPollDelay = std::chrono::milliseconds(50);

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

}  // namespace

Testimony question(Watch& watch, const std::vector<std::int64_t>& ranks, const std::function<bool()>& cut_short) {
  // Shared with a request that may run later than anybody waits for it.
  struct Round {
    std::int64_t alarm = 0;
    Testimony testimony;
  };
  const auto round = std::make_shared<Round>();
  const Clock::time_point end = Clock::now() + kAnswerTime;
  bool answered = watch.ask([round](c10d::Store& store) { round->alarm = store.add(kAlarmKey, 1); }, kStoreTime);
  while (answered && !cut_short()) {
    answered = watch.ask(
        [round, ranks](c10d::Store& store) {
          for (const std::int64_t rank : ranks) {
            if (round->testimony.answers.count(rank) != 0) continue;
            if (store.check({left_key(rank)})) round->testimony.left.insert(rank);
            if (store.check({answer_key(rank)})) {
              read_answer(store.get_to_str(answer_key(rank)), round->alarm, rank, round->testimony);
            }
          }
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
  std::vector<std::int64_t> missing, silent, left, others;
  std::string details;
  const std::string stream = CallHistory::meeting_stream(record, rank);
  for (const std::int64_t member : record.members) {
    if (member == rank || (record.is_p2p && member != record.peer)) continue;
    const auto answer = testimony.answers.find(member);
    if (answer == testimony.answers.end()) {
      (testimony.left.count(member) != 0 ? left : silent).push_back(member);
      continue;
    }
    const LoggedCall* last = answer->second.last(stream);
    if (last == nullptr || last->sequence < record.sequence) {
      missing.push_back(member);
      details += last_call(member, last);
      continue;
    }
    const LoggedCall* met = answer->second.find(stream, record.sequence);
    if (record.is_p2p || met == nullptr || met->signature == mine.signature) continue;
    others.push_back(member);
    details += concat("; rank ", member, " calls ", with_module(*met), ", rank ", rank, " calls ", with_module(mine));
  }
  std::vector<std::string> parts;
  std::vector<std::int64_t> absent = missing;
  absent.insert(absent.end(), silent.begin(), silent.end());
  absent.insert(absent.end(), left.begin(), left.end());
  std::sort(absent.begin(), absent.end());
  if (!absent.empty()) parts.push_back(concat("missing ", named_ranks(absent)));
  if (!silent.empty()) parts.push_back(concat("no answer from ", named_ranks(silent), ": stopped or dead"));
  if (!left.empty()) parts.push_back(concat(named_ranks(left), left.size() == 1 ? " has" : " have", " left the run"));
  if (!others.empty()) parts.push_back("the ranks' calls do not match");
  if (parts.empty()) parts.push_back("all ranks answer and have made this call: their connections are stuck or slow");
  return join(parts, "; ") + details;
}

}  // namespace titan::comm
