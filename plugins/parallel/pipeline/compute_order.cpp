#include "plugins/parallel/pipeline/compute_order.hpp"

#include <algorithm>

#include "plugins/parallel/pipeline/options.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

titan_action forward(std::uint32_t stage, std::uint32_t micro_batch) {
  return {TITAN_ACTION_FORWARD, stage, micro_batch, 0};
}
titan_action backward(std::uint32_t stage, std::uint32_t micro_batch) {
  return {TITAN_ACTION_BACKWARD, stage, micro_batch, 0};
}

/// One rank's part of an interleaved schedule.
class Interleaving {
 public:
  Interleaving(const Pass& pass, std::uint32_t rank, std::uint32_t round)
      : pass_(pass), rank_(rank), round_(round), forwards_(pass.num_stages), backwards_(pass.num_stages) {}

  std::vector<titan_action> row() {
    const std::uint32_t per_rank = pass_.num_stages / pass_.num_ranks, total = per_rank * pass_.num_micro_batches;
    const std::uint32_t warm_up = std::min((per_rank - 1) * round_ + 2 * (pass_.num_ranks - 1 - rank_), total);
    std::vector<titan_action> actions;
    for (std::uint32_t i = 0; i < total + warm_up; ++i) {
      if (i < total) add(actions, TITAN_ACTION_FORWARD, i / round_ % per_rank, forwards_);
      if (i >= warm_up)
        add(actions, TITAN_ACTION_BACKWARD, per_rank - 1 - (i - warm_up) / round_ % per_rank, backwards_);
    }
    return actions;
  }

 private:
  void add(std::vector<titan_action>& actions, std::int32_t kind, std::uint32_t place,
           std::vector<std::uint32_t>& next) const {
    const std::uint32_t stage = place * pass_.num_ranks + rank_;
    actions.push_back({kind, stage, next[stage]++, 0});
  }

  const Pass& pass_;
  std::uint32_t rank_, round_;
  std::vector<std::uint32_t> forwards_, backwards_;  // micro-batches begun, by stage
};

}  // namespace

Rows gpipe(const Pass& pass) {
  Rows rows(pass.num_ranks);
  for (std::uint32_t rank = 0; rank < pass.num_ranks; ++rank) {
    for (std::uint32_t i = 0; i < pass.num_micro_batches; ++i) rows[rank].push_back(forward(rank, i));
    for (std::uint32_t i = 0; i < pass.num_micro_batches; ++i) rows[rank].push_back(backward(rank, i));
  }
  return rows;
}

Rows one_forward_one_backward(const Pass& pass) {
  Rows rows(pass.num_ranks);
  for (std::uint32_t rank = 0; rank < pass.num_ranks; ++rank) {
    const std::uint32_t warm_up = std::min(pass.num_micro_batches, pass.num_ranks - rank);
    for (std::uint32_t i = 0; i < warm_up; ++i) rows[rank].push_back(forward(rank, i));
    for (std::uint32_t i = 0; i < pass.num_micro_batches; ++i) {
      rows[rank].push_back(backward(rank, i));
      if (warm_up + i < pass.num_micro_batches) rows[rank].push_back(forward(rank, warm_up + i));
    }
  }
  return rows;
}

Rows interleaved(const Pass& pass) {
  const std::uint32_t num_rounds = std::max(1U, pass.num_micro_batches / pass.num_ranks);
  if (pass.num_micro_batches % num_rounds != 0) {
    throw sdk::ConfigError("[pipeline] Interleaved1F1B needs rounds of equally many micro-batches: ", kNumMicroBatches,
                           " ", pass.num_micro_batches, " / ", pass.num_ranks, " ranks = ", num_rounds, " rounds, ",
                           pass.num_micro_batches, " = ", num_rounds, " x ", pass.num_micro_batches / num_rounds, " + ",
                           pass.num_micro_batches % num_rounds);
  }
  Rows rows;
  for (std::uint32_t rank = 0; rank < pass.num_ranks; ++rank) {
    rows.push_back(Interleaving(pass, rank, pass.num_micro_batches / num_rounds).row());
  }
  return rows;
}

Rows without_backward(const Rows& rows) {
  Rows kept(rows.size());
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    std::copy_if(rows[rank].begin(), rows[rank].end(), std::back_inserter(kept[rank]),
                 [](const titan_action& action) { return action.kind == TITAN_ACTION_FORWARD; });
  }
  return kept;
}

}  // namespace titan::parallel::pipeline
