#include "core/app/trace/dump_report.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "core/app/aligned_table.hpp"
#include "core/base/text.hpp"
#include "core/trace/dump_verdict.hpp"

namespace titan::app {
namespace {

using trace::Analysis;
using trace::Call;
using trace::Dumps;
using trace::Finding;

constexpr std::size_t kMostRows = 40;     // of a table
constexpr std::size_t kMostColumns = 8;   // ranks beside each other
constexpr std::int64_t kCallsAround = 4;  // before and after the first finding
constexpr std::size_t kMostCellBytes = 60;

std::string cell(std::string_view text) { return shortened(printable(text), kMostCellBytes); }

/// Says that rows are left out.
std::string rest(std::size_t count) { return count <= kMostRows ? "" : concat("  and ", count - kMostRows, " more\n"); }

std::string ranks_table(const Dumps& dumps, const Analysis& analysis) {
  std::vector<Row> rows{{"rank", "calls", "last call", "state", "where"}};
  for (const trace::RankState& state : analysis.ranks) {
    if (rows.size() > kMostRows) break;
    if (state.dump == nullptr) {
      const bool is_there = std::any_of(dumps.unreadable.begin(), dumps.unreadable.end(),
                                        [&](const trace::UnreadableDump& dump) { return dump.rank == state.rank; });
      rows.push_back({concat(state.rank), "-", is_there ? "unusable dump" : "no dump", "", ""});
      continue;
    }
    const Call* call = state.open != nullptr ? state.open : state.last;
    std::string where = state.dump->facts ? printable(state.dump->facts->place) : "";
    if (where.empty() && call != nullptr) where = printable(dumps.text(call->module));
    if (where.empty() && call != nullptr) where = printable(dumps.text(call->place));
    rows.push_back({concat(state.rank), concat(state.dump->calls.size()),
                    call == nullptr ? "none" : shortened(call_text(dumps, *call), kMostCellBytes),
                    call == nullptr ? "" : state_text(dumps, *call), where});
  }
  return concat("ranks\n", aligned(rows), rest(analysis.ranks.size()));
}

std::string groups_table(const Analysis& analysis) {
  std::vector<Row> rows{{"called", "channel", "ranks", "calls", "numbers"}};
  for (const trace::Group& group : analysis.groups) {
    if (rows.size() > kMostRows) break;
    const std::string titles = join({group.titles.begin(), group.titles.end()}, ", ");
    rows.push_back({cell(titles.empty() ? group.title() : titles), cell(group.name), trace::ranks_text(group.ranks),
                    concat(group.num_calls),
                    group.first == 0 && group.last == 0 ? "-" : concat(group.first, " to ", group.last)});
  }
  return concat("groups\n", aligned(rows), rest(analysis.groups.size()));
}

std::string other_findings(const Dumps& dumps, const Analysis& analysis) {
  if (analysis.findings.size() < 2) return {};
  std::string text = "what else is open\n";
  for (std::size_t i = 1; i < std::min(analysis.findings.size(), kMostRows + 1); ++i) {
    text += concat("  ", trace::finding_text(dumps, analysis, analysis.findings[i]), "\n");
  }
  return concat(text, rest(analysis.findings.size() - 1), "\n");
}

/// Whether a call belongs to the group of a finding, as its dump names it.
bool is_in(const trace::Dump& dump, const Call& call, const trace::Group& group) {
  const trace::DumpGroup& own = dump.groups[call.group];
  return own.name == group.name && (own.ranks.empty() || own.ranks == group.ranks);
}

/// Names the group that the caller knows, where it has another name.
std::string in_group(const Dumps& dumps, const Call& call, const trace::Group& group) {
  const std::string_view title = dumps.text(call.title);
  return title == group.title() ? "" : concat(" of ", cell(title));
}

/// The calls of the group around the first finding, ranks beside each other.
std::string calls_table(const Dumps& dumps, const Analysis& analysis) {
  if (analysis.findings.empty() || analysis.findings.front().is_p2p) return {};
  const Finding& finding = analysis.findings.front();
  const trace::Group& group = analysis.groups[finding.group];
  std::vector<std::int64_t> ranks = finding.callers;
  ranks.insert(ranks.end(), finding.late.begin(), finding.late.end());
  std::sort(ranks.begin(), ranks.end());
  ranks.resize(std::min(ranks.size(), kMostColumns));
  std::map<std::int64_t, Row> rows;
  Row head{"number"};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    head.push_back(concat("rank ", ranks[i]));
    const auto dump = std::find_if(dumps.ranks.begin(), dumps.ranks.end(),
                                   [&](const trace::Dump& one) { return one.rank == ranks[i]; });
    for (const Call& call : dump->calls) {
      if (call.is_p2p || !is_in(*dump, call, group)) continue;
      if (call.sequence < finding.sequence - kCallsAround || call.sequence > finding.sequence + kCallsAround) continue;
      Row& row = rows[call.sequence];
      row.resize(ranks.size() + 1, "-");
      row[0] = concat(call.sequence);
      row[i + 1] = concat(cell(dumps.text(call.op)), " ", cell(dumps.text(call.input)), in_group(dumps, call, group),
                          ", ", state_text(dumps, call));
    }
  }
  std::vector<Row> table{head};
  for (auto& [sequence, row] : rows) table.push_back(std::move(row));
  return concat("calls of ", cell(group.title()), " around it", "\n", aligned(table), "\n");
}

}  // namespace

std::string dump_report(const Dumps& dumps, const Analysis& analysis) {
  return concat(trace::verdict(dumps, analysis), "\n", calls_table(dumps, analysis), other_findings(dumps, analysis),
                ranks_table(dumps, analysis), "\n", groups_table(analysis));
}

}  // namespace titan::app
