#include "core/trace/run_record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/trace/json_lines.hpp"

namespace titan::trace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostRows = 2'000'000;  // of a file
constexpr std::size_t kMostSpans = 200'000;   // of a step of a rank
constexpr std::size_t kMostEvents = 10'000;
constexpr std::size_t kMostTextBytes = 4096;

double number_of(const json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::int64_t integer_of(const json& row, const char* name, std::int64_t fallback = 0) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

std::string text_of(const json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end() || !found->is_string()) return {};
  return shortened(found->get_ref<const std::string&>(), kMostTextBytes);
}

/// A row of each step: one that was repeated after a resume replaces what was written of it and of later ones.
template <class Row, class StepOf>
void add_in_order(std::vector<Row>& rows, Row row, const StepOf& step_of) {
  while (!rows.empty() && step_of(rows.back()) >= step_of(row)) rows.pop_back();
  if (rows.size() < kMostRows) rows.push_back(std::move(row));
}

std::vector<MetricsRow> read_rows(const fs::path& path, std::vector<std::string>& missing) {
  std::vector<MetricsRow> rows;
  const auto every = [](std::string_view) { return true; };
  read_json_lines(
      path, every,
      [&](const json& object) {
        MetricsRow row;
        for (const auto& [name, value] : object.items()) {
          if (value.is_number()) row[name] = value.get<double>();
          if (value.is_null()) row[name] = std::nan("");
        }
        if (!std::isfinite(row.contains("step") ? row["step"] : std::nan(""))) return;
        add_in_order(rows, std::move(row), [](const MetricsRow& one) { return one.at("step"); });
      },
      missing);
  return rows;
}

/// Spans and collectives are nearly all of a file, and begin with their kind.
bool is_of_a_step(std::string_view line) {
  const std::string_view head = line.substr(0, 32);
  return head.find("\"span\"") != std::string_view::npos || head.find("\"collective\"") != std::string_view::npos;
}

class RankReader {
 public:
  RankReader(RunRecord& record, std::int64_t rank, const fs::path& path) : record_(record), path_(path) {
    rank_.rank = rank;
  }

  RankRecord read_steps() {
    read_json_lines(
        path_, [](std::string_view line) { return !is_of_a_step(line); }, [&](const json& row) { add(row); },
        record_.missing);
    return std::move(rank_);
  }

 private:
  void add(const json& row) {
    const std::string kind = text_of(row, "kind");
    if (kind == "run") add_run(row);
    if (kind == "step") {
      add_in_order(rank_.times, times_of(row), [](const StepTimes& one) { return one.step; });
    }
    if (kind == "event" && record_.events.size() < kMostEvents) {
      record_.events.push_back(
          {rank_.rank, integer_of(row, "step"), number_of(row, "time"), text_of(row, "name"), text_of(row, "text")});
    }
  }

  void add_run(const json& row) {
    rank_.world_size = integer_of(row, "world_size");
    rank_.steps = integer_of(row, "steps");
    rank_.begin = number_of(row, "begin");
    rank_.version = text_of(row, "titan");
  }

  static StepTimes times_of(const json& row) {
    return {.step = integer_of(row, "step"),
            .loss = number_of(row, "loss"),
            .grad_norm = number_of(row, "grad_norm"),
            .lr = number_of(row, "lr"),
            .seconds = number_of(row, "step_seconds"),
            .data = number_of(row, "data_seconds"),
            .forward = number_of(row, "forward_seconds"),
            .backward = number_of(row, "backward_seconds"),
            .optimizer = number_of(row, "optimizer_seconds"),
            .memory = number_of(row, "peak_memory_bytes")};
  }

  RunRecord& record_;
  const fs::path& path_;
  RankRecord rank_;
};

void read_spans(RankRecord& rank, const fs::path& path, std::int64_t step) {
  std::vector<std::string> told_before;
  const auto wants = [&](std::string_view line) {
    return is_of_a_step(line) && line.find("\"step\"") != std::string_view::npos;
  };
  read_json_lines(
      path, wants,
      [&](const json& row) {
        if (integer_of(row, "step", -1) != step) return;
        const double begin = number_of(row, "begin"), seconds = number_of(row, "seconds");
        if (!std::isfinite(begin)) return;
        const double taken = std::isfinite(seconds) ? std::max(seconds, 0.0) : 0;
        if (text_of(row, "kind") == "span") {
          if (rank.spans.size() == kMostSpans) return;
          rank.spans.push_back({text_of(row, "name"), text_of(row, "detail"), begin, taken,
                                integer_of(row, "micro_batch", -1), integer_of(row, "stage")});
        } else if (rank.collectives.size() < kMostSpans) {
          rank.collectives.push_back({text_of(row, "op"), text_of(row, "group"), text_of(row, "module"),
                                      text_of(row, "state"), begin, taken, integer_of(row, "sequence"),
                                      integer_of(row, "bytes")});
        }
      },
      told_before);
}

std::map<std::int64_t, fs::path> rank_files(const fs::path& folder) {
  std::map<std::int64_t, fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    constexpr std::string_view kBegin = "rank_", kEnd = ".jsonl";
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size()) continue;
    const auto rank = parse_number<std::int64_t>(
        std::string_view(name).substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size()));
    if (rank && *rank >= 0) files.emplace(*rank, entry->path());
  }
  return files;
}

/// An event that does not say when it was is older than all others.
double moment(const RunEvent& event) {
  return std::isnan(event.time) ? -std::numeric_limits<double>::infinity() : event.time;
}

/// The last step that all ranks finished.
std::int64_t last_common_step(const RunRecord& record) {
  std::int64_t step = 0;
  for (std::size_t i = 0; i < record.ranks.size(); ++i) {
    const std::vector<StepTimes>& times = record.ranks[i].times;
    const std::int64_t last = times.empty() ? 0 : times.back().step;
    step = i == 0 ? last : std::min(step, last);
  }
  return step;
}

/// Whether the last thing that some rank told is a failure: then the step that it did not finish is the one to see.
bool has_failed(const RunRecord& record) {
  return std::any_of(record.events.begin(), record.events.end(), [&](const RunEvent& event) {
    const bool is_of_this_run = std::none_of(record.ranks.begin(), record.ranks.end(), [&](const RankRecord& rank) {
      return rank.rank == event.rank && rank.begin > event.time;
    });
    return is_of_this_run && is_failure(event);
  });
}

bool has_spans(const RunRecord& record) {
  return std::any_of(record.ranks.begin(), record.ranks.end(),
                     [](const RankRecord& rank) { return !rank.spans.empty() || !rank.collectives.empty(); });
}

}  // namespace

bool is_failure(const RunEvent& event) {
  constexpr std::array<std::string_view, 4> kFailures = {"error", "out_of_memory", "non_finite", "timeout"};
  return std::find(kFailures.begin(), kFailures.end(), event.name) != kFailures.end();
}

bool is_skip(const RunEvent& event) { return event.name == "skipped"; }

RunRecord read_run_record(const fs::path& folder, std::optional<std::int64_t> step) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InputError("[report] no such folder: ", printable(folder.native()), ": give the --dump_folder of a run");
  }
  RunRecord record;
  if (fs::exists(folder / "metrics.jsonl", ignored)) {
    record.metrics = read_rows(folder / "metrics.jsonl", record.missing);
  } else {
    record.missing.push_back("metrics.jsonl (a run writes it with the first step that it logs)");
  }
  if (fs::exists(folder / "validation.jsonl", ignored)) {
    record.validation = read_rows(folder / "validation.jsonl", record.missing);
  }
  const std::map<std::int64_t, fs::path> files = rank_files(folder / "spans");
  if (files.empty())
    record.missing.push_back("spans of the ranks (a run writes them with --debug.enable_structured_logging)");
  for (const auto& [rank, path] : files) record.ranks.push_back(RankReader(record, rank, path).read_steps());
  std::stable_sort(record.events.begin(), record.events.end(),
                   [](const RunEvent& a, const RunEvent& b) { return moment(a) < moment(b); });
  const auto read_step = [&](std::int64_t number) {
    record.step = number;
    for (RankRecord& rank : record.ranks) read_spans(rank, files.at(rank.rank), number);
  };
  if (step) {
    read_step(*step);
    return record;
  }
  const std::int64_t last = last_common_step(record);
  if (has_failed(record)) read_step(last + 1);
  if (!has_spans(record)) read_step(last);
  return record;
}

}  // namespace titan::trace
