#include <nlohmann/json.hpp>

#include "core/app/trace/dump_report.hpp"
#include "core/trace/dump_verdict.hpp"

namespace titan::app {
namespace {

using Json = nlohmann::ordered_json;
using trace::Analysis;
using trace::Call;
using trace::Dumps;

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json call_json(const Dumps& dumps, const trace::Dump& dump, const Call& call) {
  const trace::DumpGroup& group = dump.groups[call.group];
  Json json{{"op", dumps.text(call.op)},
            {"group", group.name},
            {"group_description", dumps.text(call.title)},
            {"sequence", call.sequence},
            {"state", dumps.text(call.state)},
            {"complete", call.is_done},
            {"input", dumps.text(call.input)},
            {"output", dumps.text(call.output)},
            {"created_ns", call.created_ns},
            {"module", text_or_null(dumps.text(call.module))},
            {"place", text_or_null(dumps.text(call.place))}};
  if (call.is_p2p) {
    json["from"] = call.source;
    json["to"] = call.target;
  }
  return json;
}

Json rank_json(const Dumps& dumps, const trace::RankState& state) {
  Json json{{"rank", state.rank}, {"file", nullptr}};
  if (state.dump == nullptr) return json;
  json["file"] = state.dump->file;
  json["version"] = state.dump->version;
  json["calls"] = state.dump->calls.size();
  if (state.dump->facts) {
    const trace::DumpFacts& facts = *state.dump->facts;
    json["where"] = facts.place;
    json["cause"] = facts.cause;
    json["reason"] = facts.reason;
    json["forgotten"] = facts.forgotten;
  }
  json["last_call"] = state.last == nullptr ? Json() : call_json(dumps, *state.dump, *state.last);
  json["waits_in"] = state.open == nullptr ? Json() : call_json(dumps, *state.dump, *state.open);
  return json;
}

const char* problem_name(trace::Problem problem) {
  if (problem == trace::Problem::mismatch) return "mismatch";
  return problem == trace::Problem::not_reached ? "not_reached" : "not_complete";
}

Json finding_json(const Dumps& dumps, const Analysis& analysis, const trace::Finding& finding) {
  const trace::Group& group = analysis.groups[finding.group];
  Json json{{"problem", problem_name(finding.problem)},
            {"text", trace::finding_text(dumps, analysis, finding)},
            {"op", finding.op},
            {"group", group.name},
            {"group_description", finding.title},
            {"sequence", finding.sequence},
            {"difference", text_or_null(finding.difference)},
            {"callers", finding.callers},
            {"waiting", finding.waiting},
            {"late", finding.late},
            {"without_dump", finding.without_dump}};
  if (finding.is_p2p) {
    json["from"] = finding.source;
    json["to"] = finding.target;
  }
  return json;
}

}  // namespace

std::string dump_json(const Dumps& dumps, const Analysis& analysis) {
  Json json{{"consistent", analysis.is_consistent()},
            {"verdict", trace::verdict(dumps, analysis)},
            {"folder", dumps.folder},
            {"world_size", analysis.world_size},
            {"matched_collectives", analysis.num_matched},
            {"without_dump", analysis.without_dump},
            {"unreadable", Json::array()},
            {"older", Json::array()},
            {"other_runs", Json::array()},
            {"findings", Json::array()},
            {"groups", Json::array()},
            {"ranks", Json::array()}};
  for (const trace::UnreadableDump& dump : dumps.unreadable) {
    json["unreadable"].push_back({{"rank", dump.rank}, {"reason", dump.reason}});
  }
  for (const trace::Dump& dump : dumps.older) {
    json["older"].push_back({{"rank", dump.rank}, {"where", dump.facts->place}});
  }
  for (const trace::Dump& dump : dumps.others) {
    json["other_runs"].push_back({{"rank", dump.rank}, {"world_size", dump.facts->world_size}});
  }
  for (const trace::Finding& finding : analysis.findings) {
    json["findings"].push_back(finding_json(dumps, analysis, finding));
  }
  for (const trace::Group& group : analysis.groups) {
    json["groups"].push_back({{"name", group.name},
                              {"description", group.description},
                              {"ranks", group.ranks},
                              {"first", group.first},
                              {"last", group.last},
                              {"calls", group.num_calls}});
  }
  for (const trace::RankState& state : analysis.ranks) json["ranks"].push_back(rank_json(dumps, state));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace titan::app
