#include "core/train/checkpoint/rank_team.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/text.hpp"
#include "core/train/ending.hpp"

namespace titan::train {
namespace {

using std::chrono::milliseconds;

constexpr const char* kWorking = "working";
constexpr const char* kDone = "done";

/// "74 [checkpoint] ...": the code and text of a failure.
std::string failure_text(const std::exception_ptr& failure) {
  const Ending ending = ending_of(failure);
  return concat(ending.code, ' ', ending.message);
}

std::string take_outcome(std::future<void>& work) {
  try {
    work.get();
    return kDone;
  } catch (...) {
    return failure_text(std::current_exception());
  }
}

void throw_first_failure(const std::vector<std::string>& outcomes) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const std::string& outcome = outcomes[rank];
    if (outcome == kDone) continue;
    const std::size_t space = outcome.find(' ');
    const auto code = parse_number<int>(std::string_view(outcome).substr(0, space));
    throw Error(static_cast<Exit>(code.value_or(static_cast<int>(Exit::internal))),
                concat(outcome.substr(space + 1), outcomes.size() > 1 ? concat(" (rank ", rank, ")") : ""));
  }
}

}  // namespace

std::vector<std::string> RankTeam::gather(const std::string& text) {
  if (ranks_.alone()) return {text};
  ranks_.communicator().set_module(activity_);
  std::vector<std::string> texts = comm::gather_texts(ranks_.communicator().world(), text);
  ranks_.communicator().set_module({});
  return texts;
}

void work_together(checkpoint::Team& team, const std::function<void()>& work) {
  std::future<void> running = std::async(std::launch::async, work);
  milliseconds pause(1);
  std::string mine = kWorking;
  for (;;) {
    if (mine == kWorking && running.wait_for(pause) == std::future_status::ready) mine = take_outcome(running);
    const std::vector<std::string> outcomes = team.gather(mine);
    const auto is_working = [](const std::string& outcome) { return outcome == kWorking; };
    if (std::ranges::none_of(outcomes, is_working)) return throw_first_failure(outcomes);
    pause = std::min(pause * 2, milliseconds(100));
  }
}

}  // namespace titan::train
