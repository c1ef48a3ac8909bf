#include "core/app/compare/compare_request.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace titan::app {
namespace {

std::optional<std::string> optional_text(const config::CommandLine& line, const char* flag) {
  if (!line.has(flag)) return std::nullopt;
  if (line.last(flag).empty()) throw UsageError("[compare] --", flag, ": the name of a file is missing");
  return line.last(flag);
}

std::vector<Criterion> columns(const std::string& list) {
  std::vector<Criterion> criteria;
  for (const std::string& name : split(list, ',')) {
    const bool is_known = std::ranges::any_of(criteria, [&](const Criterion& c) { return c.column == name; });
    if (name.empty() || name == "step" || is_known) {
      throw UsageError("[compare] --columns: expected names of columns, each once, with commas between them: got \"",
                       printable(shortened(list, 100)), "\": loss,grad_norm");
    }
    criteria.push_back({name});
  }
  if (criteria.empty()) throw UsageError("[compare] --columns: no column is named");
  return criteria;
}

double tolerance(std::string_view text, const std::string& word) {
  const std::optional<double> value = parse_number<double>(text);
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  throw UsageError("[compare] --tolerance: expected X or COLUMN=X, X a finite number of at least 0: got \"",
                   printable(shortened(word, 100)), '"');
}

// "X" is for all columns, "COLUMN=X" for one and stronger.
void apply_tolerances(std::vector<Criterion>& criteria, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.find('=') != std::string::npos) continue;
    for (Criterion& criterion : criteria) criterion.tolerance = tolerance(word, word);
  }
  for (const std::string& word : words) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos) continue;
    const std::string name = word.substr(0, sign);
    const auto found = std::ranges::find(criteria, name, &Criterion::column);
    if (found == criteria.end()) {
      throw UsageError("[compare] --tolerance: no such column is compared: \"", printable(shortened(name, 100)), '"');
    }
    found->tolerance = tolerance(std::string_view(word).substr(sign + 1), word);
  }
}

void check_runs(const CompareRequest& request) {
  const bool compares = request.runs.size() == 2 || (request.runs.size() == 1 && request.stored);
  if (compares || (request.runs.size() == 1 && request.written)) return;
  throw UsageError("[compare] expected two runs, or one and --import FILE, or one and --export FILE: a run is a dump ",
                   "folder, a .jsonl file of metrics or a stored reference");
}

}  // namespace

std::vector<config::Flag> compare_flags() {
  return {
      {.name = "steps", .metavar = "N", .help = "Look at steps up to N only."},
      {.name = "common-steps",
       .metavar = {},
       .help = "Look only at steps that both runs have: one may log more rarely."},
      {.name = "columns", .metavar = "NAMES", .help = "Columns to compare, with commas. (default: loss,grad_norm)"},
      {.name = "tolerance",
       .metavar = "[COLUMN=]X",
       .help = "How far values may be apart, relative to the larger one; of one column, or of all. (default: 0, equal "
               "to the last bit)",
       .repeatable = true},
      {.name = "import", .metavar = "FILE", .help = "Compare A with a stored reference, too."},
      {.name = "export",
       .metavar = "FILE",
       .help = "Store A as a reference; of runs that are compared, only when they are equal."}};
}

CompareRequest compare_request(const config::CommandLine& line) {
  CompareRequest request;
  request.runs = line.positionals;
  request.stored = optional_text(line, "import");
  request.written = optional_text(line, "export");
  request.columns_are_given = line.has("columns");
  request.criteria = columns(line.last("columns", "loss,grad_norm"));
  if (const auto words = line.flags.find("tolerance"); words != line.flags.end()) {
    apply_tolerances(request.criteria, words->second);
  }
  request.range.common_only = line.has("common-steps");
  if (line.has("steps")) {
    request.range.last = parse_number<std::int64_t>(line.last("steps"));
    if (!request.range.last || *request.range.last < 1) {
      throw UsageError("[compare] --steps: expected an integer of at least 1: got \"",
                       printable(shortened(line.last("steps"), 100)), '"');
    }
  }
  check_runs(request);
  return request;
}

}  // namespace titan::app
