#include "core/comm/processes/pending_works.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::comm {

void PendingWorks::announce(const WorkRecord& record) {
  const std::lock_guard lock(mutex_);
  announced_ = record;
}

WorkRecord PendingWorks::announced() const {
  const std::lock_guard lock(mutex_);
  return announced_;
}

c10::intrusive_ptr<TimedWork> PendingWorks::add() {
  auto work = c10::make_intrusive<TimedWork>();
  add(work);
  return work;
}

void PendingWorks::add(c10::intrusive_ptr<TimedWork> work) {
  const std::lock_guard lock(mutex_);
  check_locked();
  const auto is_done = [](const Entry& entry) { return entry.work->isCompleted(); };
  works_.erase(std::remove_if(works_.begin(), works_.end(), is_done), works_.end());
  works_.push_back({std::move(work), announced_});
}

void PendingWorks::check() const {
  const std::lock_guard lock(mutex_);
  check_locked();
}

void PendingWorks::check_locked() const {
  if (!failure_.empty()) throw PeerError(failure_);
  for (const auto& [rank, history] : left_) {
    const std::string problem = lacks(announced_, rank, history);
    if (!problem.empty()) throw PeerError(problem);
  }
}

void PendingWorks::on_late(OnLate handler) {
  const std::lock_guard lock(late_mutex_);
  late_ = std::move(handler);
}

TimedWork::Clock::time_point PendingWorks::tell_late(const WorkRecord& record) {
  const std::lock_guard lock(late_mutex_);
  return late_ ? late_(record) : TimedWork::Clock::time_point();
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

void PendingWorks::fail_pending(const std::string& text) {
  std::vector<Entry> works;
  {
    const std::lock_guard lock(mutex_);
    works.swap(works_);
  }
  for (const Entry& entry : works) entry.work->fail(text);
}

bool PendingWorks::any() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(works_.begin(), works_.end(), [](const Entry& entry) { return !entry.work->isCompleted(); });
}

std::string PendingWorks::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace titan::comm
