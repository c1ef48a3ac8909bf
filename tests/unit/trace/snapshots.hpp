#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Memory snapshots as titan writes them, in JSON.
namespace titan::trace {

using Json = nlohmann::ordered_json;

/// The stack that titan gives an event or block.
inline Json stack(const std::string& op, const std::string& module, const std::string& phase, int step) {
  return Json::array({{{"name", op}, {"filename", module}, {"line", 0}},
                      {{"name", phase}, {"filename", "step " + std::to_string(step)}, {"line", step}}});
}

inline Json event(const char* action, std::int64_t address, std::int64_t size, std::int64_t time, Json frames = {}) {
  return {{"action", action}, {"addr", address}, {"size", size},
          {"stream", 0},      {"time_us", time}, {"frames", frames.is_null() ? Json::array() : std::move(frames)}};
}

inline Json block(std::int64_t address, std::int64_t size, const std::string& kind, const std::string& name,
                  Json frames) {
  Json json{{"address", address},
            {"size", size},
            {"requested_size", size},
            {"state", "active_allocated"},
            {"frames", std::move(frames)}};
  if (!kind.empty()) json["titan"] = {{"kind", kind}, {"name", name}};
  return json;
}

inline Json segment(Json block) {
  const Json address = block["address"], size = block["size"];
  return {{"device", 0}, {"address", address}, {"total_size", size}, {"blocks", Json::array({std::move(block)})}};
}

/// Two steps. A weight of 1000 bytes is there before; each step makes an activation of 400 that goes, and something of
/// 50 in layers.1 that stays.
inline Json two_steps() {
  const Json weight = stack("aten::empty", "layers.0.wq", "init", 0);
  Json events = Json::array();
  Json segments = Json::array({segment(block(0x1000, 1000, "parameter", "layers.0.wq.weight", weight))});
  for (int step = 1; step <= 2; ++step) {
    const std::int64_t act = 0x2000, kept = 0x3000 + step * 0x100, time = step * 1000;
    events.push_back(event("alloc", act, 400, time, stack("aten::mm", "layers.0.wq", "forward", step)));
    events.push_back(event("alloc", kept, 50, time + 10, stack("aten::clone", "layers.1", "forward", step)));
    events.push_back(event("free_requested", act, 400, time + 20));
    events.push_back(event("free_completed", act, 400, time + 21, stack("aten::mm", "layers.0.wq", "backward", step)));
    segments.push_back(segment(block(kept, 50, "other", "", stack("aten::clone", "layers.1", "forward", step))));
  }
  return {{"segments", segments},
          {"device_traces", Json::array({events})},
          {"titan",
           {{"rank", 3},
            {"step", 2},
            {"live_bytes", 1100},
            {"peak_bytes", 1500},
            {"dropped_events", 7},
            {"oldest_kept_us", 1000},
            {"limit_bytes", 0},
            {"phase", "backward"}}}};
}

}  // namespace titan::trace
