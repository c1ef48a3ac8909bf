#include "core/app/report/report_charts.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/charts.hpp"

namespace titan::app {
namespace {

using trace::RankRecord;
using trace::RunRecord;
using trace::StepTimes;

constexpr std::size_t kMostLines = 10;  // ranks in one picture of lines
constexpr std::size_t kMostBars = 120;  // steps beside each other
constexpr std::size_t kMostLanes = 64;
constexpr std::size_t kMostInALane = 5000;
constexpr std::size_t kMostNames = 20;  // in a legend

chart::Series column(const std::vector<trace::MetricsRow>& rows, const std::string& name, const std::string& title) {
  chart::Series series{title, {}, {}};
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
  chart::Series series{title, {}, {}};
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

std::string step_title(const RunRecord& record, const char* what) { return concat(what, " of step ", record.step); }

/// Ranks that get a lane.
std::vector<const RankRecord*> lanes_of(const RunRecord& record) {
  std::vector<const RankRecord*> ranks;
  for (const RankRecord& rank : record.ranks) {
    if (ranks.size() < kMostLanes) ranks.push_back(&rank);
  }
  return ranks;
}

/// The place of a name in a legend, which grows until names are too many to be told apart.
std::size_t color_of(std::vector<std::string>& legend, const std::string& name) {
  const auto found = std::find(legend.begin(), legend.end(), name);
  if (found == legend.end() && legend.size() <= kMostNames) {
    legend.push_back(legend.size() < kMostNames ? name : "other");
    return legend.size() - 1;
  }
  return found == legend.end() ? kMostNames : static_cast<std::size_t>(found - legend.begin());
}

std::string span_title(const trace::PhaseSpan& span) {
  std::string title = concat(span.name, ", ", chart::number_text(span.seconds, chart::Unit::seconds));
  if (span.micro_batch >= 0) title += concat(", micro-batch ", span.micro_batch, ", stage ", span.stage);
  return span.detail.empty() ? title : concat(title, ", ", span.detail);
}

/// The span of the whole step holds the others.
bool is_part(const trace::PhaseSpan& span) { return span.name != "step"; }

}  // namespace

std::string loss_chart(const RunRecord& record) {
  chart::LineChart chart{"loss", "step", chart::Unit::count, chart::Unit::number, {}};
  if (chart::Series loss = best_column(record, "loss", "training"); !loss.x.empty())
    chart.series.push_back(std::move(loss));
  chart::Series validation = column(record.validation, "loss", "validation");
  if (!validation.x.empty()) chart.series.push_back(std::move(validation));
  return chart.series.empty() ? "" : chart::render(chart);
}

std::string metric_chart(const RunRecord& record, const std::string& name, const std::string& title) {
  chart::Series series =
      name == "grad_norm" || name == "lr" ? best_column(record, name, title) : column(record.metrics, name, title);
  if (series.x.empty()) return {};
  return chart::render(chart::LineChart{title, "step", chart::Unit::count, chart::Unit::number, {std::move(series)}});
}

std::string step_time_chart(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().times.empty()) return {};
  const RankRecord& rank = record.ranks.front();
  const std::size_t part = (rank.times.size() + kMostBars - 1) / kMostBars;
  chart::StackedChart chart{
      concat("time of a step on rank ", rank.rank, part > 1 ? concat(", means of ", part, " steps") : ""),
      "step",
      chart::Unit::number,
      chart::Unit::seconds,
      {},
      {},
      true};
  for (const char* name : {"data", "forward", "backward", "optimizer", "other"}) chart.bands.push_back({name, {}, {}});
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
  chart::LineChart chart{"peak memory of a step", "step", chart::Unit::count, chart::Unit::bytes, {}};
  for (const RankRecord& rank : record.ranks) {
    if (chart.series.size() == kMostLines) break;
    if (!rank.times.empty()) chart.series.push_back(column(rank, &StepTimes::memory, concat("rank ", rank.rank)));
  }
  if (chart.series.empty()) {
    chart::Series series = column(record.metrics, "peak_memory_bytes", "rank 0");
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart.series.empty() ? "" : chart::render(chart);
}

std::string phase_chart(const RunRecord& record) {
  chart::LaneChart chart{step_title(record, "phases"), {}, {}};
  bool has_any = false;
  for (const RankRecord* rank : lanes_of(record)) {
    chart::Lane lane{concat("rank ", rank->rank), {}};
    for (const trace::PhaseSpan& span : rank->spans) {
      if (!is_part(span) || lane.bars.size() == kMostInALane) continue;
      lane.bars.push_back({span.begin, span.begin + span.seconds, color_of(chart.legend, span.name), span_title(span)});
      has_any = true;
    }
    chart.lanes.push_back(std::move(lane));
  }
  return has_any ? chart::render(chart) : "";
}

std::string pipeline_chart(const RunRecord& record) {
  chart::LaneChart chart{step_title(record, "pipeline as it ran,"), {}, {}};
  std::int64_t most = 0;
  for (const RankRecord& rank : record.ranks) {
    for (const trace::PhaseSpan& span : rank.spans) most = std::max(most, span.stage);
  }
  if (most == 0) return {};
  for (const RankRecord* rank : lanes_of(record)) {
    chart::Lane lane{concat("rank ", rank->rank), {}};
    for (const trace::PhaseSpan& span : rank->spans) {
      const bool is_compute = span.name == "forward" || span.name == "backward";
      if (!is_compute || lane.bars.size() == kMostInALane) continue;
      const std::size_t color = color_of(chart.legend, concat(span.name, ", stage ", span.stage));
      lane.bars.push_back({span.begin, span.begin + span.seconds, color, span_title(span)});
    }
    chart.lanes.push_back(std::move(lane));
  }
  return chart::render(chart);
}

std::string collective_chart(const RunRecord& record) {
  chart::LaneChart chart{step_title(record, "collectives"), {}, {}};
  bool has_any = false;
  for (const RankRecord* rank : lanes_of(record)) {
    chart::Lane lane{concat("rank ", rank->rank), {}};
    for (const trace::CollectiveSpan& span : rank->collectives) {
      if (lane.bars.size() == kMostInALane) break;
      const std::string title =
          concat(span.op, " number ", span.sequence, " of ", span.group, span.module.empty() ? "" : ", for ",
                 span.module, ", ", bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(span.bytes, 0))), ", ",
                 chart::number_text(span.seconds, chart::Unit::seconds), ", ", span.state);
      lane.bars.push_back({span.begin, span.begin + span.seconds, color_of(chart.legend, span.group), title});
      has_any = true;
    }
    chart.lanes.push_back(std::move(lane));
  }
  return has_any ? chart::render(chart) : "";
}

}  // namespace titan::app
