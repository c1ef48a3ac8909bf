#include "core/schedule/lint.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/schedule/lint_parts.hpp"
#include "core/schedule/message.hpp"
#include "core/schedule/simulation.hpp"

namespace titan::schedule {
namespace {

constexpr std::size_t kMostNamed = 3;

/// "rank 1 waits in 1RECV_F0 for rank 0".
std::string waiting(const Table& table, std::size_t rank, const titan_action& action) {
  const Message message = message_of(action, table.num_stages()).value();
  const std::size_t partner = table.owner(is_send(action) ? message.to_stage : message.from_stage).value();
  return concat("rank ", rank, " waits in ", name_of(action), " for rank ", partner);
}

void lint_end(const Table& table, SendRule rule, std::vector<std::string>& problems) {
  const std::vector<std::size_t> done = simulate(table, rule);
  std::vector<std::string> stuck;
  for (std::size_t rank = 0; rank < done.size(); ++rank) {
    const auto& actions = table.ranks[rank].actions;
    if (done[rank] < actions.size()) stuck.push_back(waiting(table, rank, actions[done[rank]]));
  }
  if (stuck.empty()) return;
  problems.push_back(concat("deadlock where sends ",
                            rule == SendRule::buffered ? "are buffered" : "wait for their receives", ": ",
                            join(stuck, ", ")));
}

}  // namespace

std::vector<std::string> lint(const Table& table) {
  std::vector<std::string> problems;
  lint_stages(table, problems);
  if (!problems.empty()) return problems;
  lint_compute(table, problems);
  lint_transfers(table, problems);
  if (!problems.empty()) return problems;
  lint_end(table, SendRule::buffered, problems);
  if (problems.empty()) lint_end(table, SendRule::rendezvous, problems);
  return problems;
}

void require_sound(const Table& table) {
  std::vector<std::string> problems = lint(table);
  if (problems.empty()) return;
  const std::string more = problems.size() > kMostNamed ? concat("; and ", problems.size() - kMostNamed, " more") : "";
  problems.resize(std::min(problems.size(), kMostNamed));
  throw ConfigError("[schedule] a pipeline schedule cannot run: ", printable(table.name), ", ",
                    table.training ? "training" : "forward only", ": ", join(problems, "; "), more);
}

}  // namespace titan::schedule
