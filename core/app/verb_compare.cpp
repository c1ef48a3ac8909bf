#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "core/app/compare/compare_request.hpp"
#include "core/app/compare/comparison_report.hpp"
#include "core/app/compare/run_reader.hpp"
#include "core/app/compare/runs_differ.hpp"
#include "core/app/compare/stored_reference.hpp"
#include "core/app/named_output.hpp"
#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"

namespace titan::app {
namespace {

std::vector<std::string> names_of(const std::vector<Criterion>& criteria) {
  std::vector<std::string> names;
  for (const Criterion& criterion : criteria) names.push_back(criterion.column);
  return names;
}

void check_column(const RunTable& table, const std::string& column) {
  if (table.has(column)) return;
  std::vector<std::string> others(table.available.begin(), table.available.end());
  std::erase(others, "step");
  throw DataError("[compare] no such column: ", printable(column), ", in ", printable(table.file), ": it has ",
                  printable(shortened(join(others, ", "), 300)));
}

/// The criteria that every run can be judged by. A column that nobody asked for by name may be missing.
std::vector<Criterion> usable_criteria(const CompareRequest& request, const std::vector<RunTable>& runs) {
  std::vector<Criterion> usable;
  for (const Criterion& criterion : request.criteria) {
    const bool may_be_missing = !request.columns_are_given && criterion.column != "loss";
    const auto missing = std::ranges::find_if(runs, [&](const RunTable& run) { return !run.has(criterion.column); });
    if (missing == runs.end()) {
      usable.push_back(criterion);
    } else if (may_be_missing) {
      print(concat("not compared: ", criterion.column, ", which is not in ", printable(missing->file), "\n"));
    } else {
      check_column(*missing, criterion.column);
    }
  }
  return usable;
}

std::vector<RunTable> read_runs(const CompareRequest& request, const std::vector<std::string>& columns) {
  std::vector<RunTable> runs;
  for (const std::string& name : request.runs) runs.push_back(read_run(name, columns));
  if (request.stored) runs.push_back(read_run(*request.stored, columns));
  return runs;
}

/// Prints the reports and says what differs, one line a run; empty: nothing.
std::string judge_runs(const CompareRequest& request, const std::vector<RunTable>& runs,
                       const std::vector<Criterion>& criteria, const config::Registry& registry) {
  std::string verdict;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const Comparison comparison = compare(runs[0], runs[i], criteria, request.range);
    const auto settings =
        differences(settings_that_matter(runs[0].settings, registry), settings_that_matter(runs[i].settings, registry));
    print(concat(i > 1 ? "\n" : "", comparison_report(runs[0], runs[i], comparison, settings)));
    if (comparison.agrees()) continue;
    verdict += concat(verdict.empty() ? "" : "\n", "[compare] the runs differ: ", printable(runs[0].name), ", ",
                      printable(runs[i].name), ": ", first_difference(comparison));
  }
  return verdict;
}

/// A run's own file, or anything else, is not overwritten by mistake.
void check_target(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  std::ifstream file(path, std::ios::binary);
  std::string begin(64, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (is_stored_reference(begin)) return;
  throw CreateError("[compare] there is a file that is no stored reference, it is not overwritten: ",
                    printable(path.native()), ": give --export another name");
}

void store(const CompareRequest& request, RunTable table, const config::Registry& registry) {
  table.settings = settings_that_matter(table.settings, registry);
  if (request.range.last) std::erase_if(table.rows, [&](const auto& row) { return row.first > *request.range.last; });
  check_target(*request.written);
  std::vector<std::filesystem::path> inputs(request.runs.begin(), request.runs.end());
  if (request.stored) inputs.emplace_back(*request.stored);
  write_named_output(*request.written, render_reference(table), inputs);
  print(concat("stored ", printable(table.name), " as ", printable(*request.written), ": ", table.rows.size(),
               table.rows.size() == 1 ? " step, " : " steps, ", printable(join(table.columns, ", ")), "\n"));
}

void run(const Session& session, const config::Invocation& invocation) {
  const CompareRequest request = compare_request(session.read(*invocation.verb, invocation.words));
  std::vector<RunTable> runs = read_runs(request, names_of(request.criteria));
  const std::vector<Criterion> criteria = usable_criteria(request, runs);
  if (criteria.size() < request.criteria.size()) runs = read_runs(request, names_of(criteria));
  const std::string verdict = judge_runs(request, runs, criteria, session.registry());
  if (!verdict.empty()) throw RunsDiffer(verdict);
  if (request.written) store(request, std::move(runs[0]), session.registry());
}

}  // namespace

AppVerb compare_verb() {
  std::vector<config::Flag> flags = plugin_flags();
  for (config::Flag& flag : compare_flags()) flags.push_back(std::move(flag));
  return {{.name = "compare",
           .summary = "Compare the losses and gradient norms of two runs, step by step; status 1 when they differ.",
           .flags = std::move(flags),
           .positionals = {"A", "[B]"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
