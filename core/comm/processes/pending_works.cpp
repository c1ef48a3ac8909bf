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
  sweep_locked();
  works_.push_back({std::move(work), announced_});
}

void PendingWorks::sweep_locked() {
  const auto has_ended = [this](const Entry& entry) {
    if (!entry.work->isCompleted()) return false;
    if (!entry.work->isSuccess()) failed_.push_back(entry.record);
    return true;
  };
  works_.erase(std::remove_if(works_.begin(), works_.end(), has_ended), works_.end());
}

std::uint64_t PendingWorks::first_undone(const WorkRecord& record) const {
  const std::lock_guard lock(mutex_);
  const std::string stream = CallHistory::stream(record, rank_);
  std::uint64_t first = record.sequence;
  const auto count = [&](const WorkRecord& other) {
    if (CallHistory::stream(other, rank_) == stream) first = std::min(first, other.sequence);
  };
  for (const WorkRecord& failed : failed_) count(failed);
  for (const Entry& entry : works_) {
    if (!entry.work->isSuccess()) count(entry.record);
  }
  return first;
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
  const bool is_first = fail_later_ones(reason);
  fail_pending(failure());
  return is_first;
}

bool PendingWorks::fail_later_ones(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return false;
  failure_ = reason.empty() ? "the run was given up" : reason;
  return true;
}

void PendingWorks::fail_pending(const std::string& text) {
  std::vector<Entry> works;
  {
    const std::lock_guard lock(mutex_);
    sweep_locked();
    for (const Entry& entry : works_) failed_.push_back(entry.record);
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
