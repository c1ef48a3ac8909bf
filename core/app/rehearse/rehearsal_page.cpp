#include <algorithm>
#include <string>

#include "core/app/rehearse/rehearsal_charts.hpp"
#include "core/app/rehearse/rehearsal_findings.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/app/report/page_parts.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"

namespace titan::app {
namespace {

std::string seconds(double value) { return chart::number_text(value, chart::Unit::seconds); }

/// The verdict, first thing on the page.
std::string verdict_html(const RehearsalFindings& found) {
  const std::string problem = soundness_verdict(found);
  std::string text = problem.empty() ? "Every rank makes the calls that the others make, and none waits for ever."
                                     : std::string(without_tag(problem));
  bool is_bad = !problem.empty();
  if (found.fit) {
    text += concat("\n", found.fit->text);
    is_bad = is_bad || !found.fit->fits();
  }
  return concat("<p class=\"ending", is_bad ? " bad" : "", "\" style=\"white-space:pre-line\">", escaped_lines(text),
                "</p>\n");
}

std::string facts_html(const RehearsalFindings& found) {
  std::string facts = html_fact("model", found.model);
  facts += html_fact("parameters", count_text(found.facts.num_parameters));
  facts += html_fact("layout", found.mesh.describe());
  facts += html_fact("step of a data-parallel rank", config::describe(found.sizes));
  facts += html_fact("rehearsed ranks", concat(found.report.ranks.size(), " for ", found.mesh.world_size()));
  facts += html_fact("in", seconds_text(found.report.seconds));
  if (found.estimate) {
    const rehearsal::Estimate& estimate = *found.estimate;
    facts += html_fact(concat("a step on ", found.hardware.name, ", estimated"), seconds(estimate.step_seconds));
    if (estimate.model_utilisation) facts += html_fact("MFU, estimated", share_text(*estimate.model_utilisation));
    facts += html_fact("bubble (idle), estimated", share_text(estimate.mean_idle_share));
    facts += html_fact("exposed communication, estimated", share_text(estimate.mean_exposed_share));
  }
  return html_facts(facts);
}

std::string kinds_html(const RehearsalFindings& found) {
  std::string rows;
  for (const std::size_t index : found.shown()) {
    const RehearsedRank& rank = found.report.ranks[index];
    rows += html_row("td", {concat(rank.rank), concat(std::max<std::size_t>(1, rank.stands_for.size())),
                            count_text(rank.num_parameters), size_text(rank.peak_bytes), size_text(rank.steady_bytes),
                            flops_text(step_flops(rank)), rank.peak_place, kind_text(found.mesh, rank)});
  }
  return html_table(
      {"rank", "ranks", "parameters", "peak", "between steps", "FLOPs", "moment of the peak", "stands for"}, rows);
}

std::string collectives_html(const RehearsalFindings& found) {
  std::string rows;
  for (const std::size_t index : found.shown()) {
    if (index >= found.totals.ranks.size()) continue;
    for (const rehearsal::CallTotal& call : found.totals.ranks[index].calls) {
      rows += html_row("td", {concat(found.report.ranks[index].rank), call.axes, call.group, call.op,
                              count_text(call.count), size_text(call.bytes), size_text(call.sent_bytes)});
    }
  }
  if (rows.empty()) return html_quiet("There is none.");
  return html_table({"rank", "axis", "group", "collective", "calls", "bytes", "sent by the rank"}, rows);
}

std::string estimate_html(const RehearsalFindings& found) {
  if (!found.estimate) return {};
  std::string items;
  for (const std::string& formula : found.estimate->formulas)
    items += concat("<li>", escaped_lines(formula), "</li>\n");
  return concat(html_quiet(concat("Computed from stated figures, not measured. Hardware: ", found.hardware.name, ". ",
                                  found.hardware.source)),
                html_wide(time_bars(found)), items.empty() ? "" : concat("<ul>\n", items, "</ul>\n"));
}

std::string search_html(const RehearsalFindings& found) {
  if (!found.search) return {};
  std::string rows;
  for (const FitTrial& trial : found.search->trials) {
    const std::string peak = trial.outcome.refused.empty() ? size_text(trial.outcome.peak_bytes) : "refused";
    rows += html_row(
        "td", {trial.fits ? "fits" : "", peak, trial.outcome.step_seconds ? seconds(*trial.outcome.step_seconds) : "",
               concat(change_text(trial.changes), trial.outcome.refused.empty() ? "" : "\n", trial.outcome.refused)});
  }
  const auto advice = [&](const char* what, const std::optional<std::size_t>& trial) {
    return trial ? concat(what, join(words_of(found.search->trials[*trial].changes), " "), "\n") : std::string();
  };
  std::string text = found.search->chosen ? "" : "None of them fits.";
  text += advice("The nearest change that fits: ", found.search->chosen);
  text += advice("The one of these that takes the least time: ", found.search->fastest);
  return concat("<p style=\"white-space:pre-line\">", escaped_lines(text), "</p>\n",
                html_table({"", "peak", "step", "change"}, rows));
}

std::string preflight_html(const RehearsalFindings& found) {
  std::string rows;
  for (const PreflightLine& line : found.preflight) {
    rows += html_row("td", {std::string(name(line.state)), line.what, line.detail});
  }
  return rows.empty() ? "" : html_table({"", "what", ""}, rows);
}

}  // namespace

std::string rehearsal_page(const RehearsalFindings& found) {
  return html_page(
      concat("Rehearsal of ", found.model, " on ", found.mesh.world_size(), " ranks"),
      concat(verdict_html(found), html_section("Facts", facts_html(found)),
             html_section("Memory", html_wide(memory_bars(found))), html_section("What would fit", search_html(found)),
             html_section("Kinds of ranks", kinds_html(found)),
             html_section("Pipeline", html_wide(pipeline_picture(found))),
             html_section("Estimate", estimate_html(found)),
             html_section("Collectives of a step", collectives_html(found)),
             html_section("What the run needs besides", preflight_html(found))));
}

}  // namespace titan::app
