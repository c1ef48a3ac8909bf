#include <algorithm>
#include <string>

#include "core/app/aligned_table.hpp"
#include "core/app/rehearse/pipeline_lanes.hpp"
#include "core/app/rehearse/rehearsal_findings.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kMostDetailed = 16;  // kinds of ranks

std::string seconds(double value) { return chart::number_text(value, chart::Unit::seconds); }

std::string layout_text(const RehearsalFindings& found) {
  const std::size_t kinds = found.report.ranks.size();
  std::int64_t represented = 0;
  for (const RehearsedRank& rank : found.report.ranks) {
    represented += std::max<std::int64_t>(1, static_cast<std::int64_t>(rank.stands_for.size()));
  }
  return concat("rehearsal of ", printable(found.model), "\nlayout: ", found.mesh.describe(),
                "\nstep of a data-parallel rank: ", config::describe(found.sizes), "\nrehearsed: ", kinds,
                kinds == 1 ? " rank for " : " ranks for ", represented, ", ", found.steps,
                found.steps == 1 ? " step, in " : " steps, in ", seconds_text(found.report.seconds), "\n");
}

std::string preflight_text(const RehearsalFindings& found) {
  if (found.preflight.empty()) return {};
  std::vector<Row> rows;
  for (const PreflightLine& line : found.preflight) {
    rows.push_back({std::string(name(line.state)), line.what, line.detail});
  }
  return concat("\nwhat the run needs besides\n", aligned(rows));
}

std::string memory_text(const RehearsedRank& rank) {
  std::vector<Row> rows;
  for (const auto& [kind, bytes] : rank.peak_kinds) {
    if (bytes != 0) rows.push_back({"  ", size_text(bytes), kind});
  }
  return concat("  memory at its peak: ", size_text(rank.peak_bytes),
                rank.peak_place.empty() ? "" : concat(", in ", printable(rank.peak_place)), "\n", aligned(rows),
                "  between steps: ", size_text(rank.steady_bytes), "\n");
}

std::string calls_text(const std::vector<rehearsal::CallTotal>& calls) {
  if (calls.empty()) return "  no collective\n";
  std::vector<Row> rows{{"  ", "axis", "group", "collective", "calls", "bytes", "sent"}};
  for (const rehearsal::CallTotal& call : calls) {
    rows.push_back({"  ", call.axes, printable(call.group), printable(call.op), count_text(call.count),
                    size_text(call.bytes), size_text(call.sent_bytes)});
  }
  return concat("  collectives of a step\n", aligned(rows));
}

std::string time_of_rank(const RehearsalFindings& found, std::size_t index) {
  if (!found.estimate || index >= found.estimate->ranks.size()) return {};
  const rehearsal::RankTime& time = found.estimate->ranks[index];
  return concat("  estimated time: compute ", seconds(time.compute), ", exposed communication ", seconds(time.exposed),
                ", idle ", seconds(time.idle), "\n");
}

std::string rank_text(const RehearsalFindings& found, std::size_t index) {
  const RehearsedRank& rank = found.report.ranks[index];
  const rehearsal::RankTotal* total = index < found.totals.ranks.size() ? &found.totals.ranks[index] : nullptr;
  return concat("\n", kind_text(found.mesh, rank), "\n  parameters it stores: ", count_text(rank.num_parameters), "\n",
                memory_text(rank), "  work of a step: ", flops_text(step_flops(rank)), " FLOPs\n",
                total == nullptr ? "" : calls_text(total->calls), time_of_rank(found, index));
}

/// One line each, where they are too many to tell all of each.
std::string kinds_table(const RehearsalFindings& found, const std::vector<std::size_t>& shown) {
  std::vector<Row> rows{{"rank", "ranks", "parameters", "peak", "between steps", "FLOPs", "stands for"}};
  for (const std::size_t index : shown) {
    const RehearsedRank& rank = found.report.ranks[index];
    rows.push_back({concat(rank.rank), concat(std::max<std::size_t>(1, rank.stands_for.size())),
                    count_text(rank.num_parameters), size_text(rank.peak_bytes), size_text(rank.steady_bytes),
                    flops_text(step_flops(rank)), places_of(found.mesh, rank.stands_for)});
  }
  return concat("\nkinds of ranks\n", aligned(rows),
                "the one with the largest peak follows; of another one: --rank R, of all: --json or --html\n");
}

std::string ranks_text(const RehearsalFindings& found) {
  std::vector<std::size_t> shown = found.shown();
  std::string text;
  if (shown.size() > kMostDetailed) {
    text = kinds_table(found, shown);
    shown = {*std::ranges::max_element(shown, {}, [&](std::size_t i) { return found.report.ranks[i].peak_bytes; })};
  }
  for (const std::size_t index : shown) text += rank_text(found, index);
  return text;
}

std::string soundness_text(const RehearsalFindings& found) {
  std::string text = "\n";
  for (const std::string& line : found.matching.not_compared) text += concat("not compared: ", line, "\n");
  if (!found.matching.agrees()) {
    text += "calls that do not match:\n";
    for (const rehearsal::Mismatch& mismatch : found.matching.mismatches) text += concat("  ", mismatch.text, "\n");
    return text;
  }
  text += concat("calls match: ", found.matching.num_calls, " of all ranks were compared\n");
  if (found.deadlock) return concat(text, "deadlock: ", found.deadlock->text, "\n");
  return concat(text, "no deadlock, whether sends are buffered or wait for their receives\n");
}

std::string estimate_text(const RehearsalFindings& found) {
  if (!found.estimate) return {};
  const rehearsal::Estimate& estimate = *found.estimate;
  std::string text = concat("\nestimate for ", printable(found.hardware.name), ", from stated figures, not measured\n",
                            "  a step: ", seconds(estimate.step_seconds), "\n");
  if (estimate.tokens_per_second) {
    const double of_rank = *estimate.tokens_per_second / static_cast<double>(found.mesh.world_size());
    text += concat("  tokens per second: ", chart::number_text(*estimate.tokens_per_second, chart::Unit::count),
                   ", of each GPU ", chart::number_text(of_rank, chart::Unit::count), "\n");
  }
  if (estimate.model_utilisation) text += concat("  MFU: ", share_text(*estimate.model_utilisation), "\n");
  text += concat("  HFU: ", share_text(estimate.hardware_utilisation),
                 "\n  bubble (idle): ", share_text(estimate.mean_idle_share),
                 "\n  exposed communication: ", share_text(estimate.mean_exposed_share), "\n");
  for (const std::string& formula : estimate.formulas) text += concat("  ", formula, "\n");
  return text;
}

std::string search_text(const RehearsalFindings& found) {
  if (!found.search) return {};
  const FitSearch& search = *found.search;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < search.trials.size(); ++i) {
    const FitTrial& trial = search.trials[i];
    const std::string verdict = !trial.outcome.refused.empty()
                                    ? concat("refused: ", trial.outcome.refused)
                                    : concat(size_text(trial.outcome.peak_bytes), " at the peak");
    const std::string time = trial.outcome.step_seconds ? concat("step ", seconds(*trial.outcome.step_seconds)) : "";
    rows.push_back(
        {search.chosen == i ? "->" : "", trial.fits ? "fits" : "", change_text(trial.changes), verdict, time});
  }
  std::string text = concat(
      "searched: ", search.trials.size(), " changes rehearsed, of at most ", search.most_trials,
      "; nearest: the fewest changes, the fewest options, then the least estimated time of a step\n", aligned(rows));
  if (search.is_cut) text += "time was out before all changes had their turn\n";
  if (!search.chosen) return text + "none of them fits\n";
  text +=
      concat("the nearest change that fits: add ", join(words_of(search.trials[*search.chosen].changes), " "), "\n");
  if (!search.fastest) return text;
  return concat(text, "the one of these that takes the least time: ",
                join(words_of(search.trials[*search.fastest].changes), " "), "\n");
}

std::string fit_text(const RehearsalFindings& found) {
  if (!found.fit) return {};
  return concat("\n", found.fit->text, "\n", search_text(found));
}

}  // namespace

std::string rehearsal_text(const RehearsalFindings& found) {
  return layout_text(found) + preflight_text(found) + ranks_text(found) + soundness_text(found) + pipeline_text(found) +
         estimate_text(found) + fit_text(found);
}

}  // namespace titan::app
