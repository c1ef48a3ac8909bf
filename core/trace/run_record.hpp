#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a run left behind of its course: metrics.jsonl, validation.jsonl, and spans/rank_N.jsonl of its ranks.
namespace titan::trace {

/// A row of metrics.jsonl or validation.jsonl: its numbers by name; NaN where the file says null.
using MetricsRow = std::map<std::string, double>;

/// A phase of a rank. Times are seconds since 1970.
struct PhaseSpan {
  std::string name, detail;
  double begin = 0, seconds = 0;
  std::int64_t micro_batch = -1, stage = 0;
};

struct CollectiveSpan {
  std::string op, group, module, state;
  double begin = 0, seconds = 0;
  std::int64_t sequence = 0, bytes = 0;
};

/// What one step took; NaN: not told.
struct StepTimes {
  std::int64_t step = 0;
  double loss = 0, grad_norm = 0, lr = 0, seconds = 0, data = 0, forward = 0, backward = 0, optimizer = 0, memory = 0;
};

struct RunEvent {
  std::int64_t rank = 0, step = 0;
  double time = 0;
  std::string name, text;
};

/// Whether it says that something failed.
bool is_failure(const RunEvent& event);

/// Whether it says that the update of its step was left out.
bool is_skip(const RunEvent& event);

struct RankRecord {
  std::int64_t rank = 0, world_size = 0, steps = 0;
  double begin = 0;
  std::string version;
  std::vector<StepTimes> times;  // by step; of one that was repeated the last
  std::vector<PhaseSpan> spans;  // of the step that was asked for
  std::vector<CollectiveSpan> collectives;
};

struct RunRecord {
  std::vector<MetricsRow> metrics, validation;  // in order of the files
  std::vector<RankRecord> ranks;
  std::vector<RunEvent> events;
  std::int64_t step = 0;             // whose spans these are; 0: none
  std::vector<std::string> missing;  // what is not there or not as it should be, for a person
};

/// Reads what is there. Without `step` the spans are those of the last step that all ranks finished, or, of a run that
/// failed, of the next one, in which it did. What is missing or damaged is listed; InputError when there is no such
/// folder.
RunRecord read_run_record(const std::filesystem::path& folder, std::optional<std::int64_t> step);

}  // namespace titan::trace
