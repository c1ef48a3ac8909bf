#include "core/train/checkpoint/rank_team.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "core/checkpoint/background_task.hpp"
#include "core/checkpoint/rank_verdict.hpp"

namespace titan::train {

using checkpoint::RankVerdict;
using std::chrono::milliseconds;

namespace {

/// Cancels when its scope is left by an exception.
class CancelOnFailure {
 public:
  explicit CancelOnFailure(Canceled* canceled) : canceled_(canceled) {}
  ~CancelOnFailure() {
    if (canceled_ != nullptr && std::uncaught_exceptions() > before_) *canceled_ = true;
  }
  CancelOnFailure(const CancelOnFailure&) = delete;
  CancelOnFailure& operator=(const CancelOnFailure&) = delete;

 private:
  Canceled* canceled_;
  int before_ = std::uncaught_exceptions();
};

}  // namespace

std::vector<std::string> RankTeam::gather(const std::string& text) {
  if (ranks_.alone()) return {text};
  ranks_.communicator().set_module(activity_);
  std::vector<std::string> texts = comm::gather_texts(ranks_.communicator().world(), text);
  ranks_.communicator().set_module({});
  return texts;
}

void work_together(checkpoint::Team& team, std::string_view act, const std::function<void()>& work,
                   Canceled* canceled) {
  if (team.size() == 1) return work();
  constexpr milliseconds kLongestPause(100);
  checkpoint::BackgroundTask task;  // waits for the work, after it is canceled
  const CancelOnFailure cancel(canceled);
  task.start(work, /*has_low_priority=*/false);
  RankVerdict mine{RankVerdict::Kind::working, {}, Exit::done};
  for (milliseconds pause(1);; pause = std::min(pause * 2, kLongestPause)) {
    task.wait_for(pause);
    if (mine.kind == RankVerdict::Kind::working && task.is_done()) {
      mine = checkpoint::verdict_of([&] {
        task.take();
        return std::string();
      });
    }
    const std::vector<RankVerdict> verdicts = checkpoint::exchange(team, act, mine);
    if (!checkpoint::any_is(verdicts, RankVerdict::Kind::working)) return checkpoint::require_success(act, verdicts);
  }
}

}  // namespace titan::train
