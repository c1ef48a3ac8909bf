#include "core/app/report/report_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/base/text.hpp"
#include "core/chart/charts.hpp"

namespace titan::app {
namespace {

using trace::RankRecord;
using trace::RunRecord;
using trace::StepTimes;

constexpr std::size_t kMostLines = 10;  // ranks in one picture of lines
constexpr std::size_t kMostMarks = 200;
constexpr std::size_t kMostBars = 120;  // steps beside each other

chart::Series column(const std::vector<trace::MetricsRow>& rows, const std::string& name, const std::string& title) {
  chart::Series series{.name = title, .x = {}, .y = {}};
  for (const trace::MetricsRow& row : rows) {
    const auto found = row.find(name);
    if (found == row.end()) continue;
    series.x.push_back(row.at("step"));
    series.y.push_back(found->second);
  }
  return series;
}

/// What the spans of a rank say of every step, where the metrics have only some of them.
chart::Series column(const RankRecord& rank, double StepTimes::*field, const std::string& title) {
  chart::Series series{.name = title, .x = {}, .y = {}};
  for (const StepTimes& times : rank.times) {
    series.x.push_back(static_cast<double>(times.step));
    series.y.push_back(times.*field);
  }
  return series;
}

chart::Series best_column(const RunRecord& record, const std::string& name, const std::string& title) {
  chart::Series series = column(record.metrics, name, title);
  if (record.ranks.empty()) return series;
  double StepTimes::*field = name == "loss" ? &StepTimes::loss : name == "lr" ? &StepTimes::lr : &StepTimes::grad_norm;
  chart::Series of_steps = column(record.ranks.front(), field, title);
  return of_steps.x.size() > series.x.size() ? of_steps : series;
}

double known(double value) { return std::isfinite(value) ? std::max(value, 0.0) : 0; }

}  // namespace

std::size_t phase_color(std::string_view name) {
  constexpr std::array<std::string_view, 13> kPhases = {"data", "forward", "backward", "optimizer", "validation",
                                                        "save", "replay",  "join",     "other",     "build",
                                                        "init", "load",    "hold"};
  const auto found = std::find(kPhases.begin(), kPhases.end(), name);
  constexpr std::array<std::size_t, 13> kColors = {0, 1, 2, 3, 4, 5, 6, 7, 9, 6, 5, 4, 8};
  return found == kPhases.end() ? kColors[8] : kColors[static_cast<std::size_t>(found - kPhases.begin())];
}

std::vector<std::int64_t> skipped_steps(const RunRecord& record) {
  std::set<std::int64_t> steps;
  for (const trace::RunEvent& event : record.events) {
    if (trace::is_skip(event)) steps.insert(event.step);
  }
  return {steps.begin(), steps.end()};
}

std::string loss_chart(const RunRecord& record) {
  chart::LineChart chart{"loss", "step", chart::Unit::count, chart::Unit::number, {}, false};
  if (chart::Series loss = best_column(record, "loss", "training"); !loss.x.empty())
    chart.series.push_back(std::move(loss));
  chart::Series validation = column(record.validation, "loss", "validation");
  if (!validation.x.empty()) chart.series.push_back(std::move(validation));
  for (const std::int64_t step : skipped_steps(record)) {
    if (chart.marks.size() == kMostMarks) break;
    chart.marks.push_back({static_cast<double>(step), concat("step ", step, ": its update was left out")});
  }
  return chart.series.empty() ? "" : chart::render(chart);
}

std::string metric_chart(const RunRecord& record, const std::string& name, const std::string& title) {
  chart::Series series =
      name == "grad_norm" || name == "lr" ? best_column(record, name, title) : column(record.metrics, name, title);
  if (series.x.empty()) return {};
  // Rates and shares are compared in proportion; of the others the course counts.
  const bool has_zero = name == "tps" || name == "mfu";
  return chart::render(
      chart::LineChart{title, "step", chart::Unit::count, chart::Unit::number, {std::move(series)}, has_zero});
}

std::string step_time_chart(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().times.empty()) return {};
  const RankRecord& rank = record.ranks.front();
  const std::size_t part = (rank.times.size() + kMostBars - 1) / kMostBars;
  chart::StackedChart chart{
      .title = concat("time of each step on rank ", rank.rank, part > 1 ? concat(", means of ", part, " steps") : ""),
      .x_name = "step",
      .x_unit = chart::Unit::count,
      .unit = chart::Unit::seconds,
      .x = {},
      .bands = {},
      .is_bars = true};
  for (const char* name : {"data", "forward", "backward", "optimizer", "other"}) {
    chart.bands.push_back({.name = name, .x = {}, .y = {}, .color = phase_color(name)});
  }
  for (std::size_t begin = 0; begin < rank.times.size(); begin += part) {
    const std::size_t end = std::min(begin + part, rank.times.size());
    double sums[5] = {};
    for (std::size_t i = begin; i < end; ++i) {
      const StepTimes& times = rank.times[i];
      const double parts[] = {known(times.data), known(times.forward), known(times.backward), known(times.optimizer)};
      double rest = known(times.seconds);
      for (std::size_t k = 0; k < 4; ++k) {
        sums[k] += parts[k];
        rest -= parts[k];
      }
      sums[4] += std::max(rest, 0.0);
    }
    chart.x.push_back(static_cast<double>(rank.times[begin].step));
    for (std::size_t k = 0; k < 5; ++k) chart.bands[k].y.push_back(sums[k] / static_cast<double>(end - begin));
  }
  return chart::render(chart);
}

std::string memory_chart(const RunRecord& record) {
  chart::LineChart chart{"peak memory of each step", "step", chart::Unit::count, chart::Unit::bytes, {}, true};
  for (const RankRecord& rank : record.ranks) {
    if (chart.series.size() == kMostLines) break;
    if (!rank.times.empty()) chart.series.push_back(column(rank, &StepTimes::memory, concat("rank ", rank.rank)));
  }
  if (chart.series.empty()) {
    chart::Series series = column(record.metrics, "peak_memory_bytes", "rank 0");
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  if (!chart.series.empty() && chart.series.size() < record.ranks.size()) {
    chart.title += concat(", ", chart.series.size(), " of ", record.ranks.size(), " ranks");
  }
  return chart.series.empty() ? "" : chart::render(chart);
}

}  // namespace titan::app
