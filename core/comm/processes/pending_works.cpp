#include "core/comm/processes/pending_works.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::comm {

void PendingWorks::announce(const WorkRecord& record) {
  const std::lock_guard lock(mutex_);
  announced_ = record;
}

c10::intrusive_ptr<TimedWork> PendingWorks::add() {
  auto work = c10::make_intrusive<TimedWork>();
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw PeerError(failure_);
  for (const auto& [rank, history] : left_) {
    const std::string problem = lacks(announced_, rank, history);
    if (!problem.empty()) throw PeerError(problem);
  }
  works_.erase(
      std::remove_if(works_.begin(), works_.end(), [](const Entry& entry) { return entry.work->isCompleted(); }),
      works_.end());
  works_.push_back({work, announced_});
  return work;
}

std::string PendingWorks::lacks(const WorkRecord& record, std::int64_t leaver, const CallHistory& history) const {
  const bool needed = record.is_p2p
                          ? record.peer == leaver
                          : std::find(record.members.begin(), record.members.end(), leaver) != record.members.end();
  if (!needed) return {};
  const LoggedCall* last = history.last(CallHistory::meeting_stream(record, rank_));
  if (last != nullptr && last->sequence >= record.sequence) return {};
  const std::string call = last == nullptr ? "none" : concat(last->signature, ", sequence ", last->sequence);
  return concat("rank ", leaver, " has left the run: its last call in this group: ", call);
}

void PendingWorks::leave(std::int64_t rank, CallHistory history) {
  std::vector<std::pair<c10::intrusive_ptr<TimedWork>, std::string>> failed;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : works_) {
      const std::string problem = lacks(entry.record, rank, history);
      if (problem.empty()) continue;
      failed.emplace_back(entry.work, problem);
      explanations_.insert(problem);
    }
    left_.emplace(rank, std::move(history));
  }
  for (const auto& [work, problem] : failed) work->fail(problem);
}

bool PendingWorks::explains(const std::string& failure) const {
  const std::lock_guard lock(mutex_);
  return explanations_.count(failure) != 0;
}

bool PendingWorks::fail(const std::string& reason) {
  std::vector<Entry> works;
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return false;
    failure_ = reason.empty() ? "the run was given up" : reason;
    works.swap(works_);
  }
  for (const Entry& entry : works) entry.work->fail(reason);
  return true;
}

std::string PendingWorks::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace titan::comm
