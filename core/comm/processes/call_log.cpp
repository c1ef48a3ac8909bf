#include "core/comm/processes/call_log.hpp"

#include <charconv>
#include <vector>

#include "core/base/text.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
namespace {

// Ranks of one channel are rarely further apart.
constexpr std::size_t kCallsKept = 32;

std::string between(const WorkRecord& record, std::int64_t rank, bool sends) {
  const bool from_here = record.op == "send";
  const std::int64_t from = from_here ? rank : record.peer, to = from_here ? record.peer : rank;
  return concat(record.channel, '|', from, '>', to, sends ? "|send" : "|recv");
}

}  // namespace

std::string CallHistory::stream(const WorkRecord& record, std::int64_t rank) {
  return record.is_p2p ? between(record, rank, record.op == "send") : record.channel;
}

std::string CallHistory::meeting_stream(const WorkRecord& record, std::int64_t rank) {
  return record.is_p2p ? between(record, rank, record.op != "send") : record.channel;
}

void CallHistory::add(const std::string& stream, LoggedCall call) {
  std::deque<LoggedCall>& calls = streams_[stream];
  calls.push_back(std::move(call));
  if (calls.size() > kCallsKept) calls.pop_front();
}

const LoggedCall* CallHistory::last(const std::string& stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() || found->second.empty() ? nullptr : &found->second.back();
}

const LoggedCall* CallHistory::find(const std::string& stream, std::uint64_t sequence) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return nullptr;
  for (const LoggedCall& call : found->second) {
    if (call.sequence == sequence) return &call;
  }
  return nullptr;
}

std::string CallHistory::encode(bool newest_only) const {
  std::string text;
  for (const auto& [stream, calls] : streams_) {
    for (const LoggedCall& call : calls) {
      if (newest_only && &call != &calls.back()) continue;
      text += concat(stream, '\t', call.sequence, '\t', call.signature, '\t', call.module, '\n');
    }
  }
  return text;
}

CallHistory CallHistory::decode(std::string_view text) {
  CallHistory history;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() < 3) continue;
    LoggedCall call{0, fields[2], fields.size() > 3 ? fields[3] : ""};
    const std::string& number = fields[1];
    if (std::from_chars(number.data(), number.data() + number.size(), call.sequence).ec != std::errc{}) continue;
    history.add(fields[0], std::move(call));
  }
  return history;
}

void CallLog::note(const WorkRecord& record) {
  LoggedCall call{record.sequence, signature(record), printable(record.module)};
  const std::lock_guard lock(mutex_);
  history_.add(CallHistory::stream(record, rank_), std::move(call));
}

CallHistory CallLog::history() const {
  const std::lock_guard lock(mutex_);
  return history_;
}

}  // namespace titan::comm
