#include <nlohmann/json.hpp>

#include "core/app/trace/memory_report.hpp"

namespace titan::app {
namespace {

using Json = nlohmann::ordered_json;

Json groups_json(const std::vector<trace::MemoryGroup>& groups) {
  Json json = Json::array();
  for (const trace::MemoryGroup& group : groups) {
    json.push_back({{"name", group.name}, {"bytes", group.bytes}, {"blocks", group.blocks}});
  }
  return json;
}

Json live_set_json(const trace::LiveSet& set) {
  Json largest = Json::array();
  for (const trace::NamedBlock& block : set.largest) {
    largest.push_back({{"bytes", block.bytes}, {"kind", block.kind}, {"name", block.name}, {"site", block.site}});
  }
  return {{"bytes", set.bytes},
          {"blocks", set.blocks},
          {"kinds", groups_json(set.kinds)},
          {"modules", groups_json(set.modules)},
          {"operators", groups_json(set.ops)},
          {"largest", std::move(largest)}};
}

Json timeline_json(const trace::MemoryTimeline& timeline) {
  Json bands = Json::object();
  for (std::size_t i = 0; i < timeline.bands.size(); ++i) bands[timeline.bands[i]] = timeline.stacks[i];
  return {{"time_us", timeline.time_us}, {"bytes", timeline.bytes}, {"bands", std::move(bands)}};
}

Json device_json(const trace::DeviceSummary& device) {
  Json json{{"device", device.device},
            {"reserved_bytes", device.reserved},
            {"events", device.num_events},
            {"allocations", device.num_allocations},
            {"begin_us", device.begin_us},
            {"end_us", device.end_us},
            {"before_bytes", device.before_bytes},
            {"peak_us", device.peak_us},
            {"peak_event", device.peak_event},
            {"peak_site", device.peak_site},
            {"peak", live_set_json(device.peak)},
            {"end", live_set_json(device.end)},
            {"timeline", timeline_json(device.timeline)},
            {"steps", Json::array()},
            {"suspects", Json::array()},
            {"out_of_memory", Json::array()}};
  for (const trace::StepGrowth& step : device.steps) {
    json["steps"].push_back({{"step", step.step},
                             {"allocated_bytes", step.allocated},
                             {"alive_bytes", step.alive},
                             {"alive_blocks", step.alive_blocks}});
  }
  for (const trace::LeakSuspect& suspect : device.suspects) {
    json["suspects"].push_back(
        {{"site", suspect.site}, {"bytes", suspect.bytes}, {"blocks", suspect.blocks}, {"steps", suspect.steps}});
  }
  for (const trace::OutOfMemory& failure : device.failures) {
    json["out_of_memory"].push_back({{"asked_bytes", failure.asked},
                                     {"free_bytes", failure.device_free},
                                     {"time_us", failure.time_us},
                                     {"site", failure.site}});
  }
  return json;
}

Json facts_json(const trace::Snapshot& snapshot) {
  if (!snapshot.facts) return {};
  const trace::SnapshotFacts& facts = *snapshot.facts;
  return {{"rank", facts.rank},
          {"step", facts.step},
          {"phase", facts.phase},
          {"live_bytes", facts.live_bytes},
          {"peak_bytes", facts.peak_bytes},
          {"limit_bytes", facts.limit_bytes},
          {"dropped_events", facts.dropped_events},
          {"oldest_kept_us", facts.oldest_kept_us}};
}

}  // namespace

std::string memory_json(const std::string& file, const trace::Snapshot& snapshot,
                        const std::vector<trace::DeviceSummary>& devices) {
  Json json{{"file", file}, {"titan", facts_json(snapshot)}, {"devices", Json::array()}};
  for (const trace::DeviceSummary& device : devices) json["devices"].push_back(device_json(device));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace titan::app
