#include <array>
#include <cmath>
#include <ctime>

#include "core/app/report/ending.hpp"
#include "core/app/report/report_charts.hpp"
#include "core/app/report/run_report.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"
#include "core/chart/svg.hpp"

namespace titan::app {
namespace {

using chart::escaped;

constexpr std::size_t kMostRows = 500;  // of a table

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#1a1a1a;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em;border-bottom:1px solid #8888}
svg{max-width:100%;height:auto;display:block;margin:1em 0}
table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.2em .9em .2em 0;border-bottom:1px solid #8884}
td{overflow-wrap:anywhere;white-space:pre-line}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.7em}
.bad{color:#b3261e;font-weight:600}.quiet{opacity:.75}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.bad{color:#ff8a80}}
@media print{body{max-width:none;margin:0;color:#000;background:#fff}h2{break-after:avoid}svg,tr{break-inside:avoid}}
)";

std::string date(double time) {
  if (!std::isfinite(time) || time <= 0 || time > 1e11) return "";
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  std::array<char, 40> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

/// Lines stay lines, where the page keeps them.
std::string escaped_lines(std::string_view text) {
  std::string html;
  for (const std::string& line : split(text, '\n')) html += concat(html.empty() ? "" : "\n", escaped(line));
  return html;
}

std::string row(std::string_view tag, const std::vector<std::string>& cells) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += concat("<", tag, ">", escaped_lines(cell), "</", tag, ">");
  return html + "</tr>\n";
}

std::string section(std::string_view title, std::string_view content) {
  if (content.empty()) return {};
  return concat("<section>\n<h2>", escaped(title), "</h2>\n", content, "</section>\n");
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

void add_number(std::string& rows, const char* name, double value, chart::Unit unit = chart::Unit::number) {
  if (std::isfinite(value)) rows += row("td", {name, chart::number_text(value, unit)});
}

std::string facts(const RunReport& report) {
  const trace::RunRecord& record = report.record;
  std::string rows = row("td", {"folder", report.folder});
  if (!record.ranks.empty()) {
    const trace::RankRecord& first = record.ranks.front();
    const std::int64_t last = first.times.empty() ? 0 : first.times.back().step;
    rows += row("td", {"begun", date(first.begin)});
    rows += row("td", {"titan", first.version});
    rows += row("td", {"ranks", concat(first.world_size, ", ", record.ranks.size(), " of them with spans")});
    rows += row("td", {"steps", concat(last, " of ", first.steps)});
  } else if (!record.metrics.empty()) {
    add_number(rows, "last logged step", last_of(record.metrics, "step"), chart::Unit::count);
  }
  add_number(rows, "last loss", last_of(record.metrics, "loss"));
  add_number(rows, "lowest validation loss", lowest_of(record.validation, "loss"));
  add_number(rows, "tokens", last_of(record.metrics, "tokens"), chart::Unit::count);
  add_number(rows, "tokens per second and device", last_of(record.metrics, "tps"), chart::Unit::count);
  add_number(rows, "share of the peak (mfu), percent", last_of(record.metrics, "mfu"));
  add_number(rows, "peak memory, last logged", last_of(record.metrics, "peak_memory_bytes"), chart::Unit::bytes);
  add_number(rows, "time", last_of(record.metrics, "elapsed_s"), chart::Unit::seconds);
  return concat("<table>\n", rows, "</table>\n");
}

/// How it ended, first thing on the page.
std::string ending_html(const RunReport& report) {
  const Ending ending = ending_of(report);
  return concat("<p", ending.is_failure ? " class=\"bad\"" : "", ">", escaped(ending.headline), "</p>\n",
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
    rows += row("td", {date(event.time), concat(event.rank), concat(event.step), event.name, event.text});
  }
  for (const launch::RankError& error : report.errors) {
    if (++count > kMostRows) break;
    rows += row(
        "td", {date(error.time), concat(error.rank), error.phase, outcome_text(error), shortened(error.message, 2000)});
  }
  if (rows.empty()) return {};
  const std::string rest = count > kMostRows ? "<p class=\"quiet\">and more, left out here</p>\n" : "";
  return concat("<table>\n", row("th", {"time", "rank", "step", "event", "text"}), rows, "</table>\n", rest);
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

std::string note_on_step(const RunReport& report, const std::string& pictures) {
  if (pictures.empty()) return {};
  return concat("<p class=\"quiet\">Step ", report.record.step,
                "; another one with --step. Rest the mouse on a bar to "
                "see what it is.</p>\n",
                pictures);
}

}  // namespace

std::string report_page(const RunReport& report) {
  const trace::RunRecord& record = report.record;
  const std::string title = concat("Run in ", report.folder);
  return concat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>", escaped(title),
      "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<h1>", escaped(title), "</h1>\n", ending_html(report),
      section("Why it hung: what the flight recorders say", verdict_html(report)), section("Facts", facts(report)),
      section("Loss", loss_chart(record)), section("Gradient norm", metric_chart(record, "grad_norm", "gradient norm")),
      section("Learning rate", metric_chart(record, "lr", "learning rate")),
      section("Time of a step", step_time_chart(record)), section("Memory", memory_chart(record)),
      section("Speed", metric_chart(record, "tps", "tokens per second and device")),
      section("One step across ranks", note_on_step(report, phase_chart(record) + collective_chart(record))),
      section("Pipeline", pipeline_chart(record)), section("Events and failures", events_table(report)),
      section("Configuration", config_html(report)), section("Not there", missing_list(report)), "</body>\n</html>\n");
}

}  // namespace titan::app
