#include <string>
#include <utility>

#include "core/app/engine_library.hpp"
#include "core/app/named_output.hpp"
#include "core/app/output.hpp"
#include "core/app/rehearse/rehearsal_findings.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/app/rehearse/rehearse_layout.hpp"
#include "core/app/rehearse/rehearse_request.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/signals.hpp"
#include "core/app/verbs.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/log_spdlog.hpp"

namespace titan::app {
namespace {

constexpr double kSearchSeconds = 120;  // a change that is being rehearsed then is still ended

/// One run and what it is rehearsed with.
struct Rehearsal {
  const Session& session;
  const Engine& engine;
  const config::Invocation& invocation;
  const RehearseRequest& request;
};

/// What the run comes to with other options. Refusals are an answer; a stop and our own mistakes are not.
FitOutcome try_changes(const Rehearsal& rehearsal, const std::vector<FitChange>& changes) {
  config::Words words = rehearsal.invocation.words;
  for (std::string& word : words_of(changes)) words.push_back(std::move(word));
  stop_flag().check();
  FitOutcome outcome;
  try {
    const config::Config config = rehearsal.session.resolve(*rehearsal.invocation.verb, words).config;
    const RehearsalFindings found = try_rehearsal(rehearsal.session, rehearsal.engine, config, rehearsal.request);
    outcome.peak_bytes = found.report.ranks.at(found.fit->worst).peak_bytes;
    if (found.estimate) outcome.step_seconds = found.estimate->step_seconds;
  } catch (const Error& error) {
    if (error.exit() != Exit::config) throw;
    outcome.refused = error.what();
  }
  log_info("rehearse", change_text(changes), ": ",
           outcome.refused.empty() ? concat(size_text(outcome.peak_bytes), " at the peak") : "refused");
  return outcome;
}

FitSearch search(const Rehearsal& rehearsal, const config::Config& config, const RehearsalFindings& found) {
  FitOutcome now;
  now.peak_bytes = found.report.ranks.at(found.fit->worst).peak_bytes;
  if (found.estimate) now.step_seconds = found.estimate->step_seconds;
  return search_fit(
      now, found.fit->limit_bytes, fit_changes(config, found.mesh, found.sizes),
      [&](const std::vector<FitChange>& changes) { return try_changes(rehearsal, changes); },
      [end = monotonic_seconds() + kSearchSeconds] { return monotonic_seconds() < end; });
}

/// What was found is shown before it is judged.
void judge(const RehearsalFindings& found) {
  if (const std::string verdict = soundness_verdict(found); !verdict.empty()) throw ConfigError(verdict);
  if (found.must_fit && found.fit && !found.fit->fits()) throw ResourceError("[rehearse] ", found.fit->text);
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Resolution resolution = session.resolve(*invocation.verb, invocation.words);
  const config::Config& config = resolution.config;
  const RehearseRequest request = rehearse_request(resolution.command_line);
  check_selection(session, config);
  check_options(config, request.world_size);
  const Engine& engine = open_engine(engine_path());
  RehearsalFindings found = rehearse_layout(session, engine, config, request);
  found.preflight = preflight(session, {config, found.mesh, found.sizes, found.facts});
  if (found.must_fit && !found.fit->fits() && found.is_sound()) {
    found.search = search({session, engine, invocation, request}, config, found);
  }
  if (!request.html.empty()) write_named_output(request.html, rehearsal_page(found), inputs_of(config));
  print(request.json ? rehearsal_json(found) : rehearsal_text(found));
  judge(found);
}

}  // namespace

AppVerb rehearse_verb() {
  std::vector<config::Flag> flags = config::run_flags();
  for (config::Flag& flag : rehearse_flags()) flags.push_back(std::move(flag));
  return {{.name = "rehearse",
           .summary = "Rehearse all ranks of a layout on this machine, without data: whether their calls match, their "
                      "memory, work and estimated time, and what would fit: titan rehearse --world-size 512 --module "
                      "llama3 --config llama3_405b.",
           .flags = std::move(flags),
           .positionals = {}},
          &run};
}

}  // namespace titan::app
