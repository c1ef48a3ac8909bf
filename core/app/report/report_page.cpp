#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "core/app/report/ending.hpp"
#include "core/app/report/page_parts.hpp"
#include "core/app/report/report_charts.hpp"
#include "core/app/report/run_report.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"
#include "core/chart/svg.hpp"

namespace titan::app {
namespace {

using chart::escaped;

constexpr std::size_t kMostRows = 500;  // of a table

std::string date(double time) {
  if (!std::isfinite(time) || time <= 0 || time > 1e11) return "";
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  std::array<char, 40> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

/// Pictures beside each other; where there is none, why.
std::string charts(const std::vector<std::string>& pictures, std::string_view why_not) {
  const std::string all = join(pictures, "");
  return all.empty() ? html_quiet(why_not) : concat("<div class=\"charts\">\n", all, "</div>\n");
}

/// The last value of a column that is a number.
double last_of(const std::vector<trace::MetricsRow>& rows, const std::string& name) {
  for (std::size_t i = rows.size(); i-- > 0;) {
    const auto found = rows[i].find(name);
    if (found != rows[i].end() && std::isfinite(found->second)) return found->second;
  }
  return std::nan("");
}

double lowest_of(const std::vector<trace::MetricsRow>& rows, const std::string& name) {
  double lowest = std::nan("");
  for (const trace::MetricsRow& row : rows) {
    const auto found = row.find(name);
    if (found == row.end() || !std::isfinite(found->second)) continue;
    lowest = std::isfinite(lowest) ? std::min(lowest, found->second) : found->second;
  }
  return lowest;
}

std::string number_fact(const char* name, double value, chart::Unit unit = chart::Unit::number) {
  return std::isfinite(value) ? html_fact(name, chart::number_text(value, unit)) : "";
}

std::string count_text(std::int64_t count) {
  return chart::number_text(static_cast<double>(count), chart::Unit::count);
}

std::string facts_of_ranks(const trace::RunRecord& record) {
  const trace::RankRecord& first = record.ranks.front();
  const auto num_ranks = static_cast<std::int64_t>(record.ranks.size());
  const std::int64_t last = first.times.empty() ? 0 : first.times.back().step;
  std::string items = html_fact("begun", date(first.begin)) + html_fact("titan", first.version);
  items += html_fact(
      "ranks", num_ranks == first.world_size ? concat(num_ranks) : concat(first.world_size, ", spans of ", num_ranks));
  return items + html_fact("steps finished", concat(count_text(last), " of ", count_text(first.steps)));
}

/// "5 updates, of steps 2-6"
std::string skips_text(const trace::RunRecord& record) {
  const std::vector<std::int64_t> steps = skipped_steps(record);
  if (steps.empty()) return {};
  const bool is_one = steps.size() == 1;
  return concat(count_text(static_cast<std::int64_t>(steps.size())),
                is_one ? " update, of step " : " updates, of steps ", shortened(number_runs(steps), 200));
}

std::string facts(const RunReport& report) {
  const trace::RunRecord& record = report.record;
  std::error_code ignored;
  std::string items = html_fact("folder", std::filesystem::absolute(report.folder, ignored).native());
  if (!record.ranks.empty()) {
    items += facts_of_ranks(record);
  } else {
    items += number_fact("last logged step", last_of(record.metrics, "step"), chart::Unit::count);
  }
  items += html_fact("skipped", skips_text(record));
  items += number_fact("last loss", last_of(record.metrics, "loss"));
  items += number_fact("lowest validation loss", lowest_of(record.validation, "loss"));
  items += number_fact("tokens", last_of(record.metrics, "tokens"), chart::Unit::count);
  items += number_fact("tokens per second and device", last_of(record.metrics, "tps"), chart::Unit::count);
  items += number_fact("share of the peak (mfu), percent", last_of(record.metrics, "mfu"));
  items += number_fact("peak memory, last logged", last_of(record.metrics, "peak_memory_bytes"), chart::Unit::bytes);
  items += number_fact("time of training", last_of(record.metrics, "elapsed_s"), chart::Unit::seconds);
  return html_facts(items);
}

/// How it ended, first thing on the page.
std::string ending_html(const RunReport& report) {
  const Ending ending = ending_of(report);
  const char* const kind = ending.is_failure ? " bad" : ending.is_known ? "" : " unknown";
  return concat("<p class=\"ending", kind, "\">", escaped(ending.headline), "</p>\n",
                ending.detail.empty() ? "" : concat("<pre>", escaped_lines(ending.detail), "</pre>\n"));
}

std::string verdict_html(const RunReport& report) {
  return report.verdict.empty() ? "" : concat("<pre>", escaped_lines(report.verdict), "</pre>\n");
}

std::string events_table(const RunReport& report) {
  std::string rows;
  std::size_t count = 0;
  for (const trace::RunEvent& event : report.record.events) {
    if (++count > kMostRows) break;
    rows += html_row("td", {date(event.time), concat(event.rank), concat(event.step), event.name, event.text});
  }
  for (const launch::RankError& error : report.errors) {
    if (++count > kMostRows) break;
    rows += html_row(
        "td", {date(error.time), concat(error.rank), error.phase, outcome_text(error), shortened(error.message, 2000)});
  }
  if (rows.empty()) return html_quiet("None is recorded.");
  const std::string rest = count > kMostRows ? "<p class=\"quiet\">and more, left out here</p>\n" : "";
  return concat(html_table({"time", "rank", "step", "event", "text"}, rows), rest);
}

std::string missing_list(const RunReport& report) {
  std::string items;
  for (const std::string& item : report.record.missing) items += concat("<li>", escaped(item), "</li>\n");
  return items.empty() ? "" : concat("<ul>\n", items, "</ul>\n");
}

std::string config_html(const RunReport& report) {
  if (report.config.empty()) return {};
  return concat("<details><summary>config.toml</summary>\n<pre>", escaped_lines(report.config), "</pre>\n</details>\n");
}

std::string files_table(const RunReport& report) {
  std::string rows;
  for (const RunFiles& files : report.files)
    rows += html_row("td", {files.what, files.count, files.reader, files.newest});
  return rows.empty() ? "" : html_table({"files", "how many", "opened by", "where, the newest"}, rows);
}

constexpr const char* kSpansOption = "spans of the ranks, which a run writes with --debug.enable_structured_logging";

std::string training(const trace::RunRecord& record) {
  return charts(
      {loss_chart(record), metric_chart(record, "grad_norm", "gradient norm"),
       metric_chart(record, "lr", "learning rate"), metric_chart(record, "tps", "tokens per second and device")},
      "No step is recorded: none was finished, or none was logged.");
}

std::string costs(const trace::RunRecord& record) {
  const std::string why =
      record.ranks.empty() ? concat("There are no ", kSpansOption, ".") : "No rank finished a step.";
  return charts({step_time_chart(record), memory_chart(record)}, why);
}

std::string one_step(const trace::RunRecord& record) {
  const std::string phases = phase_chart(record), collectives = collective_chart(record);
  if (phases.empty() && collectives.empty()) {
    return html_quiet(record.ranks.empty() ? concat("There are no ", kSpansOption, ".")
                                           : concat("Nothing is recorded of step ", record.step, "."));
  }
  std::string note = "Another step with --step. Rest the mouse on a bar to see what it is.";
  if (const std::size_t later = num_later_collectives(record); later > 0) {
    note += concat(" Left out: collectives that came after these phases, ", later, " over all ranks.");
  }
  if (collectives.empty()) note += " Collectives: none.";
  return concat(html_quiet(note), html_wide(phases), html_wide(collectives), html_wide(pipeline_chart(record)));
}

}  // namespace

std::string report_page(const RunReport& report) {
  const trace::RunRecord& record = report.record;
  std::string html = ending_html(report);
  html += html_section("What the flight recorders say", verdict_html(report)) + html_section("Facts", facts(report));
  html += html_section("Training", training(record)) + html_section("Time and memory", costs(record));
  html += html_section(concat("Step ", record.step, " across ranks"), one_step(record));
  html += html_section("Events and failures", events_table(report)) + html_section("Files", files_table(report));
  html += html_section("Configuration", config_html(report)) + html_section("Not there", missing_list(report));
  return html_page(concat("Run in ", report.folder), html);
}

}  // namespace titan::app
