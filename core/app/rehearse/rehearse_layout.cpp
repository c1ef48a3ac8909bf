#include "core/app/rehearse/rehearse_layout.hpp"

#include <cmath>

#include "core/app/layout_rank.hpp"
#include "core/app/quiet_log.hpp"
#include "core/app/signals.hpp"
#include "core/base/error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/checkpoint/options.hpp"

namespace titan::app {
namespace {

using config::Axis;
using schedule::SendRule;

titan_model_facts facts_of(const Session& session, const Engine& engine, const RankPlace& place, std::int64_t length) {
  const LayoutRank rank = make_checked_rank(session, engine, place);
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  plugin_call(rank.run.host, rank.run.model.plugin.c_str(), "facts",
              [&] { return rank.run.model.table->facts(rank.run.model.ctx, length, &facts); });
  return facts;
}

RehearsalReport report_of(const Session& session, const Engine& engine, const config::Config& config,
                          const config::Mesh& mesh, const RehearseRequest& request) {
  RehearsalRequest asked;
  asked.mesh = mesh;
  asked.steps = request.steps;
  asked.all_ranks = request.all_ranks;
  asked.over_gloo = config.string("training.device") == "cpu" && config.string("comm.cpu_backend") == "gloo";
  asked.make_rank = [&](std::int64_t rank) {
    stop_flag().check();
    LayoutRank made = make_checked_rank(session, engine, {&config, mesh, rank});
    made.run.has_values = false;
    return made;
  };
  return engine.rehearse(asked);
}

/// The memory that the layout is held against: what was asked for, else what the hardware that was named has.
std::optional<std::int64_t> limit_of(const RehearseRequest& request) {
  if (request.limit_bytes) return request.limit_bytes;
  if (!request.has_hardware || request.hardware.memory_bytes <= 0) return std::nullopt;
  return std::llround(request.hardware.memory_bytes);
}

void find_time(RehearsalFindings& found) {
  for (const SendRule rule : {SendRule::buffered, SendRule::rendezvous}) {
    found.deadlock = rehearsal::find_deadlock(found.report, found.mesh, rule);
    if (found.deadlock) return;
  }
  const std::int64_t data_ranks = found.mesh.degree(Axis::dp_replicate) * found.mesh.degree(Axis::dp_shard);
  found.estimate = rehearsal::estimate(
      found.report, found.mesh, found.hardware,
      {.tokens = found.sizes.tokens_per_step() * data_ranks, .model_flops_per_token = found.facts.num_flops_per_token});
}

RehearsalFindings findings_of(const config::Config& config, const RehearseRequest& request) {
  RehearsalFindings found;
  found.model = concat(config.module(), ' ', config.config_name());
  found.mesh = config::Mesh::from(config, request.world_size);
  found.sizes = config::plan_sizes(config, found.mesh);
  found.steps = request.steps;
  found.hardware = request.hardware;
  found.must_fit = request.limit_bytes.has_value();
  found.shown_rank = request.shown_rank;
  return found;
}

}  // namespace

void check_options(const config::Config& config, std::int64_t world_size) {
  config::plan_sizes(config, config::Mesh::from(config, world_size));
  checkpoint::read_options(config, world_size);
}

RehearsalFindings rehearse_layout(const Session& session, const Engine& engine, const config::Config& config,
                                  const RehearseRequest& request) {
  RehearsalFindings found = findings_of(config, request);
  {
    const QuietLog quiet(engine, &log_warnings_once);
    found.facts = facts_of(session, engine, {&config, found.mesh, 0}, found.sizes.length);
    found.report = report_of(session, engine, config, found.mesh, request);
  }
  if (found.report.ranks.empty()) throw InternalError("[rehearse] no rank was rehearsed: ", found.report.layout);
  found.matching = rehearsal::match(found.report, found.mesh);
  found.totals = rehearsal::totals(found.report, found.mesh);
  if (found.matching.agrees()) find_time(found);
  if (const auto limit = limit_of(request)) found.fit = rehearsal::fit(found.report, *limit);
  return found;
}

RehearsalFindings try_rehearsal(const Session& session, const Engine& engine, const config::Config& config,
                                const RehearseRequest& request) {
  RehearsalFindings found = findings_of(config, request);
  {
    const QuietLog quiet(engine, &log_nothing);
    found.report = report_of(session, engine, config, found.mesh, request);
  }
  if (request.limit_bytes) found.fit = rehearsal::fit(found.report, *request.limit_bytes);
  found.estimate = rehearsal::estimate(found.report, found.mesh, found.hardware, {});
  return found;
}

}  // namespace titan::app
