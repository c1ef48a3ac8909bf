#include "core/checkpoint/train_state.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_pieces.hpp"
#include "core/checkpoint/json_document.hpp"

namespace titan::checkpoint {

namespace {

constexpr const char* kFormat = "titan.checkpoint.train_state";
// So that a run can count on from any of them.
constexpr std::int64_t kMostCounted = 999'999'999'999'999'999;

}  // namespace

std::string write_train_state(const TrainState& state) {
  nlohmann::ordered_json json{{"format", kFormat},
                              {"version", kDocumentVersion},
                              {"step", state.step},
                              {"num_tokens", state.num_tokens},
                              {"schedule_step", state.schedule_step}};
  if (state.dataloader) {
    TITAN_CHECK(invalid_utf8_at(*state.dataloader) == std::string_view::npos, "cursors are no text");
    json["dataloader"] = *state.dataloader;
  }
  return json.dump(2) + '\n';
}

TrainState read_train_state(std::string_view text, const std::string& source) {
  const nlohmann::json json = parse_strict_json(text, source);
  const JsonField root(json, "checkpoint", source);
  require_document(root, kFormat);
  require_no_others(root, {"format", "version", "step", "num_tokens", "schedule_step", "dataloader"});
  const auto count = [&](const char* name) { return root.at(name).integer(0, kMostCounted); };
  TrainState state{count("step"), count("num_tokens"), count("schedule_step"), std::nullopt};
  if (root.has("dataloader")) state.dataloader = root.at("dataloader").text();
  return state;
}

}  // namespace titan::checkpoint
