#include "tests/unit/app/rehearse/findings.hpp"

namespace titan::app::test {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

RehearsedRank stage(std::int64_t place) {
  RehearsedRank rank;
  rank.rank = 2 * place;
  rank.stands_for = {2 * place, 2 * place + 1};
  rank.flops = 2e12;
  rank.num_parameters = 1'234'567;
  rank.num_operators = 99;
  rank.peak_kinds = {{"parameter", 30 * kMebibyte}, {"activation", (10 + place) * kMebibyte}};
  rank.peak_bytes = (40 + place) * kMebibyte;
  rank.steady_bytes = 30 * kMebibyte;
  rank.peak_place = "backward of micro-batch 0, layers.<1>";
  rank.spans = {{"forward", 0, static_cast<std::int32_t>(place), 0, 0, 0, 1e12},
                {"backward", 0, static_cast<std::int32_t>(place), 0, 0, 1e12, 2e12}};
  return rank;
}

rehearsal::RankTime time_of(std::int64_t place) {
  const double begin = static_cast<double>(place);
  return {.rank = 2 * place,
          .compute = 2,
          .exposed = 0.5,
          .idle = 1.5,
          .communicated = 0.5,
          .end = 4,
          .spans = {{.span = 0, .begin = begin, .end = begin + 1}, {.span = 1, .begin = 3 - begin, .end = 4 - begin}}};
}

}  // namespace

RehearsalFindings sound_findings() {
  RehearsalFindings found;
  found.model = "llama3 llama3_debugmodel";
  found.facts.num_parameters = 2'469'134;
  found.mesh = config::Mesh({2, 1, 2, 1, 1}, 4);
  found.sizes = {.rows = 2, .length = 128, .num_micro_batches = 1, .group = 1};
  found.report.layout = found.mesh.describe();
  found.report.ranks = {stage(0), stage(1)};
  found.report.seconds = 0.25;
  found.matching.num_calls = 12;
  found.hardware.name = "h100";
  found.hardware.source = "a data sheet";
  for (const std::int64_t place : {0, 1}) {
    const rehearsal::CallTotal call{"_allgather_base", "fsdp", "dp_shard", 7, 4 * kMebibyte, 2.0 * kMebibyte};
    found.totals.ranks.push_back({2 * place, 2, 2e12, {call}});
  }
  found.totals.calls = found.totals.ranks[0].calls;
  found.totals.flops = 8e12;
  rehearsal::Estimate estimate;
  estimate.step_seconds = 4;
  estimate.ranks = {time_of(0), time_of(1)};
  estimate.tokens_per_second = 128;
  estimate.model_utilisation = 0.4;
  estimate.hardware_utilisation = 0.5;
  estimate.mean_idle_share = 0.375;
  estimate.mean_exposed_share = 0.125;
  estimate.formulas = {"compute = FLOPs / (peak x efficiency)"};
  found.estimate = estimate;
  found.preflight = {{"dataset", PreflightLine::State::missing, "cannot be read: ./assets/c4"},
                     {"disk", PreflightLine::State::none, "the run saves no checkpoint"}};
  return found;
}

RehearsalFindings mismatched_findings() {
  RehearsalFindings found = sound_findings();
  found.estimate.reset();
  found.matching.mismatches.push_back({.what = rehearsal::Mismatch::What::dtype,
                                       .channel = "world",
                                       .number = 3,
                                       .first = {0, "layers.0", "all_reduce of Float [4]"},
                                       .second = {2, "layers.4", "all_reduce of BFloat16 [4]"},
                                       .text = "rank 0 in layers.0 reduces Float, rank 2 in layers.4 BFloat16"});
  return found;
}

RehearsalFindings unfit_findings(std::int64_t limit_bytes) {
  RehearsalFindings found = sound_findings();
  found.must_fit = true;
  found.fit = rehearsal::fit(found.report, limit_bytes);
  const FitChange full{
      "recomputation", "activation checkpointing none -> full", {{"activation_checkpoint.mode", "full"}}};
  const FitChange tensor{"degree", "tp 1 -> 2", {{"parallelism.tensor_parallel_degree", "2"}}};
  found.search.emplace();
  found.search->trials = {{{full}, {"", 35 * kMebibyte, 5}, true}, {{tensor}, {"heads do not divide", 0, {}}, false}};
  found.search->chosen = 0;
  found.search->most_trials = 24;
  return found;
}

}  // namespace titan::app::test
