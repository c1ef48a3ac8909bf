#include "core/app/compare/comparison_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/app/aligned_table.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kMostSettings = 20;
constexpr std::size_t kLongestSetting = 60;
constexpr std::size_t kShownAtEnds = 4;
constexpr std::size_t kShownAround = 2;

std::string value_text(double value) { return std::isnan(value) ? "not a number" : concat(value); }

std::string run_line(char letter, const RunTable& table) {
  std::string line = concat("  ", letter, "  ", printable(table.file), ": ", table.rows.size(),
                            table.rows.size() == 1 ? " step, " : " steps, ", table.rows.begin()->first, " to ",
                            table.rows.rbegin()->first);
  if (table.num_repeated > 0) line += concat(", ", table.num_repeated, " written again later: the later row counts");
  return line + "\n";
}

std::string criteria_text(const std::vector<Criterion>& criteria) {
  std::vector<std::string> texts;
  for (const Criterion& criterion : criteria) {
    const std::string how = criterion.tolerance == 0 ? "exact" : concat("relative ", criterion.tolerance);
    texts.push_back(concat(printable(criterion.column), " (", how, ")"));
  }
  return join(texts, ", ");
}

std::string settings_text(const std::vector<SettingDifference>& settings) {
  if (settings.empty()) return {};
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("(none)") : shortened(printable(value), kLongestSetting);
  };
  std::string text = "settings that differ:\n";
  for (std::size_t i = 0; i < std::min(settings.size(), kMostSettings); ++i) {
    text += concat("  ", printable(settings[i].name), ": ", shown(settings[i].a), " | ", shown(settings[i].b), "\n");
  }
  if (settings.size() > kMostSettings) text += concat("  and ", settings.size() - kMostSettings, " more\n");
  return text;
}

// Indices of the first and last steps, of those around the first difference, and of the largest differences.
std::set<std::size_t> telling_steps(const Comparison& comparison) {
  std::set<std::size_t> shown;
  const std::size_t count = comparison.steps.size();
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, count); ++i) shown.insert(i);
  };
  add(0, kShownAtEnds);
  add(count - std::min(count, kShownAtEnds), count);
  if (comparison.first_differing) {
    const std::size_t at = *comparison.first_differing;
    add(at - std::min(at, kShownAround), at + kShownAround + 1);
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const Comparison::Largest& largest : comparison.largest) {
      if (largest.relative > 0 && largest.step == comparison.steps[i].step) shown.insert(i);
    }
  }
  return shown;
}

Row header(const std::vector<Criterion>& criteria) {
  Row row{"step"};
  for (const Criterion& criterion : criteria) {
    const std::string column = printable(criterion.column);
    row.insert(row.end(), {column + " A", column + " B", "relative"});
  }
  return row;
}

Row cells(const ComparedStep& step) {
  Row row{concat(step.step, step.agrees() ? "" : " *")};
  if (!step.in_a || !step.in_b) row.push_back(step.in_a ? "only in A" : "only in B");
  for (const ComparedValue& value : step.values) {
    row.insert(row.end(), {value_text(value.a), value_text(value.b), relative_text(value.relative)});
  }
  return row;
}

std::string table_text(const Comparison& comparison) {
  std::vector<Row> rows{header(comparison.criteria)};
  std::size_t next = 0;
  for (const std::size_t index : telling_steps(comparison)) {
    if (index != next) rows.push_back({"..."});
    rows.push_back(cells(comparison.steps[index]));
    next = index + 1;
  }
  return aligned(rows);
}

std::string largest_text(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < comparison.criteria.size(); ++i) {
    const auto& [relative, step] = comparison.largest[i];
    const std::string place = relative == 0 ? std::string() : concat(" at step ", step);
    texts.push_back(concat(printable(comparison.criteria[i].column), " ", relative_text(relative), place));
  }
  return concat("largest relative difference: ", join(texts, ", "), "\n");
}

std::string verdict(const Comparison& comparison) {
  if (!comparison.agrees()) return first_difference(comparison) + "\n";
  const bool exact = std::ranges::all_of(comparison.criteria, [](const Criterion& c) { return c.tolerance == 0; });
  return concat(exact ? "equal" : "equal within tolerance", ": ", comparison.num_common,
                comparison.num_common == 1 ? " step\n" : " steps\n");
}

}  // namespace

std::string relative_text(double relative) {
  if (std::isnan(relative)) return "-";
  if (relative == 0) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", relative);
  return text.data();
}

std::string first_difference(const Comparison& comparison) {
  if (comparison.agrees()) return {};
  const ComparedStep& step = comparison.steps[*comparison.first_differing];
  const std::string begin = concat("first differing step ", step.step, ": ");
  if (!step.in_a || !step.in_b) return concat(begin, "only in ", step.in_a ? "A" : "B");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < step.values.size(); ++i) {
    const ComparedValue& value = step.values[i];
    if (value.agrees) continue;
    const std::string relative =
        std::isnan(value.relative) ? std::string() : concat(" (relative ", relative_text(value.relative), ")");
    texts.push_back(concat(printable(comparison.criteria[i].column), " ", value_text(value.a), " vs ",
                           value_text(value.b), relative));
  }
  return concat(begin, join(texts, ", "));
}

std::string comparison_report(const RunTable& a, const RunTable& b, const Comparison& comparison,
                              const std::vector<SettingDifference>& settings) {
  return concat("comparing ", printable(a.name), " (A) with ", printable(b.name),
                " (B): ", criteria_text(comparison.criteria), "\n", run_line('A', a), run_line('B', b),
                settings_text(settings), table_text(comparison), largest_text(comparison), verdict(comparison));
}

}  // namespace titan::app
