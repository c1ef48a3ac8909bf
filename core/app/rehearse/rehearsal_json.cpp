#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/app/rehearse/rehearsal_findings.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json layout_json(const RehearsalFindings& found) {
  Json degrees = Json::object();
  for (const config::Axis axis : config::kAxes) degrees[std::string(name(axis))] = found.mesh.degree(axis);
  degrees["ep"] = found.mesh.expert_degree();
  return {{"world_size", found.mesh.world_size()}, {"degrees", std::move(degrees)}, {"text", found.mesh.describe()}};
}

Json step_json(const RehearsalFindings& found) {
  return {{"rows", found.sizes.rows},
          {"length", found.sizes.length},
          {"micro_batches", found.sizes.num_micro_batches},
          {"micro_batches_together", found.sizes.group},
          {"tokens_of_a_data_parallel_rank", found.sizes.tokens_per_step()}};
}

Json model_json(const RehearsalFindings& found) {
  return {{"name", found.model},
          {"parameters", found.facts.num_parameters},
          {"layers", found.facts.num_layers},
          {"flops_per_token", found.facts.num_flops_per_token}};
}

Json calls_json(const std::vector<rehearsal::CallTotal>& calls) {
  Json json = Json::array();
  for (const rehearsal::CallTotal& call : calls) {
    json.push_back({{"op", call.op},
                    {"group", call.group},
                    {"axes", call.axes},
                    {"count", call.count},
                    {"bytes", call.bytes},
                    {"sent_bytes", call.sent_bytes}});
  }
  return json;
}

Json memory_json(const RehearsedRank& rank) {
  Json kinds = Json::object();
  for (const auto& [kind, bytes] : rank.peak_kinds) kinds[kind] = bytes;
  return {{"peak_bytes", rank.peak_bytes},
          {"peak_kinds", std::move(kinds)},
          {"peak_place", rank.peak_place},
          {"between_steps_bytes", rank.steady_bytes}};
}

Json time_json(const RehearsalFindings& found, std::size_t index) {
  if (!found.estimate || index >= found.estimate->ranks.size()) return nullptr;
  const rehearsal::RankTime& time = found.estimate->ranks[index];
  return {{"compute_s", time.compute},
          {"exposed_communication_s", time.exposed},
          {"idle_s", time.idle},
          {"communication_s", time.communicated}};
}

Json rank_json(const RehearsalFindings& found, std::size_t index) {
  const RehearsedRank& rank = found.report.ranks[index];
  const bool has_total = index < found.totals.ranks.size();
  return {{"rank", rank.rank},
          {"num_ranks", std::max<std::size_t>(1, rank.stands_for.size())},
          {"stands_for", runs_of(rank.stands_for)},
          {"places", places_of(found.mesh, rank.stands_for)},
          {"parameters", rank.num_parameters},
          {"operators", rank.num_operators},
          {"flops", step_flops(rank)},
          {"memory", memory_json(rank)},
          {"collectives", has_total ? calls_json(found.totals.ranks[index].calls) : Json::array()},
          {"estimated_time", time_json(found, index)}};
}

Json ranks_json(const RehearsalFindings& found) {
  Json json = Json::array();
  for (const std::size_t index : found.shown()) json.push_back(rank_json(found, index));
  return json;
}

Json side_json(const rehearsal::Mismatch::Side& side) {
  return {{"rank", side.rank}, {"module", side.module}, {"call", side.call}};
}

Json matching_json(const RehearsalFindings& found) {
  Json mismatches = Json::array();
  for (const rehearsal::Mismatch& mismatch : found.matching.mismatches) {
    mismatches.push_back({{"text", mismatch.text},
                          {"channel", mismatch.channel},
                          {"number", mismatch.number},
                          {"first", side_json(mismatch.first)},
                          {"second", side_json(mismatch.second)}});
  }
  return {{"agrees", found.matching.agrees()},
          {"calls_compared", found.matching.num_calls},
          {"mismatches", std::move(mismatches)},
          {"not_compared", found.matching.not_compared}};
}

Json deadlock_json(const RehearsalFindings& found) {
  if (!found.deadlock) return nullptr;
  Json chain = Json::array();
  for (const rehearsal::StuckRank& rank : found.deadlock->chain) {
    chain.push_back(
        {{"rank", rank.rank}, {"module", rank.module}, {"call", rank.call}, {"waits_for", runs_of(rank.waits_for)}});
  }
  const bool is_buffered = found.deadlock->rule == schedule::SendRule::buffered;
  return {{"sends", is_buffered ? "buffered" : "rendezvous"},
          {"is_cycle", found.deadlock->is_cycle},
          {"stuck_ranks", found.deadlock->num_stuck},
          {"chain", std::move(chain)},
          {"text", found.deadlock->text}};
}

Json hardware_json(const rehearsal::Hardware& hardware) {
  return {{"name", hardware.name},
          {"peak_flops", hardware.peak_flops},
          {"memory_bytes", hardware.memory_bytes},
          {"nvlink_bandwidth", hardware.nvlink_bandwidth},
          {"network_bandwidth", hardware.network_bandwidth},
          {"gpus_per_node", hardware.gpus_per_node},
          {"compute_efficiency", hardware.compute_efficiency},
          {"bandwidth_efficiency", hardware.bandwidth_efficiency},
          {"source", hardware.source}};
}

Json estimate_json(const RehearsalFindings& found) {
  if (!found.estimate) return nullptr;
  const rehearsal::Estimate& estimate = *found.estimate;
  return {{"is_estimate", true},
          {"is_partial", estimate.is_partial},
          {"hardware", hardware_json(found.hardware)},
          {"step_s", estimate.step_seconds},
          {"tokens_per_second", or_null(estimate.tokens_per_second)},
          {"mfu", or_null(estimate.model_utilisation)},
          {"hfu", estimate.hardware_utilisation},
          {"mean_idle_share", estimate.mean_idle_share},
          {"mean_exposed_share", estimate.mean_exposed_share},
          {"formulas", estimate.formulas}};
}

Json fit_json(const RehearsalFindings& found) {
  if (!found.fit) return nullptr;
  return {{"limit_bytes", found.fit->limit_bytes},
          {"fits", found.fit->fits()},
          {"ranks_that_do_not_fit", found.fit->num_unfit},
          {"text", found.fit->text}};
}

Json trial_json(const FitTrial& trial) {
  const bool is_refused = !trial.outcome.refused.empty();
  return {{"change", change_text(trial.changes)},
          {"options", words_of(trial.changes)},
          {"fits", trial.fits},
          {"peak_bytes", is_refused ? Json(nullptr) : Json(trial.outcome.peak_bytes)},
          {"step_s", or_null(trial.outcome.step_seconds)},
          {"refused", is_refused ? Json(trial.outcome.refused) : Json(nullptr)}};
}

Json search_json(const RehearsalFindings& found) {
  if (!found.search) return nullptr;
  Json trials = Json::array();
  for (const FitTrial& trial : found.search->trials) trials.push_back(trial_json(trial));
  const auto options = [&](const std::optional<std::size_t>& trial) {
    return trial ? Json(words_of(found.search->trials[*trial].changes)) : Json(nullptr);
  };
  return {{"options", options(found.search->chosen)},
          {"fastest_options", options(found.search->fastest ? found.search->fastest : found.search->chosen)},
          {"is_cut", found.search->is_cut},
          {"most_rehearsals", found.search->most_trials},
          {"rehearsals", std::move(trials)}};
}

Json preflight_json(const RehearsalFindings& found) {
  Json json = Json::array();
  for (const PreflightLine& line : found.preflight) {
    json.push_back({{"what", line.what}, {"state", name(line.state)}, {"detail", line.detail}});
  }
  return json;
}

}  // namespace

std::string rehearsal_json(const RehearsalFindings& found) {
  const Json json{{"model", model_json(found)},
                  {"layout", layout_json(found)},
                  {"step", step_json(found)},
                  {"rehearsed_ranks", found.report.ranks.size()},
                  {"rehearsed_steps", found.steps},
                  {"seconds", found.report.seconds},
                  {"preflight", preflight_json(found)},
                  {"ranks", ranks_json(found)},
                  {"matching", matching_json(found)},
                  {"deadlock", deadlock_json(found)},
                  {"collectives", calls_json(found.totals.calls)},
                  {"flops", found.totals.flops},
                  {"estimate", estimate_json(found)},
                  {"fit", fit_json(found)},
                  {"search", search_json(found)}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace titan::app
