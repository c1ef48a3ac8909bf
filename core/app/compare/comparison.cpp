#include "core/app/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/error.hpp"

namespace titan::app {
namespace {

ComparedValue compare_values(double a, double b, double tolerance) {
  const double scale = std::max(std::abs(a), std::abs(b));
  const double apart = std::abs(a - b);
  const double relative = apart == 0 ? 0 : apart / scale;
  return {a, b, relative, a == b || relative <= tolerance};
}

ComparedStep compare_step(const RunTable& a, const RunTable& b, std::int64_t step,
                          const std::vector<Criterion>& criteria) {
  const auto row_a = a.rows.find(step);
  const auto row_b = b.rows.find(step);
  ComparedStep compared{step, row_a != a.rows.end(), row_b != b.rows.end(), {}};
  if (!compared.in_a || !compared.in_b) return compared;
  for (std::size_t i = 0; i < criteria.size(); ++i) {
    compared.values.push_back(compare_values(row_a->second.at(i), row_b->second.at(i), criteria[i].tolerance));
  }
  return compared;
}

std::set<std::int64_t> steps_of(const RunTable& a, const RunTable& b, const StepRange& range) {
  std::set<std::int64_t> steps;
  for (const RunTable* table : {&a, &b}) {
    for (const auto& [step, row] : table->rows) {
      if (!range.last || step <= *range.last) steps.insert(step);
    }
  }
  return steps;
}

std::string reach(const RunTable& table) {
  return concat(printable(table.name), " has steps ", table.rows.begin()->first, " to ", table.rows.rbegin()->first);
}

void check_reach(const RunTable& a, const RunTable& b, const StepRange& range) {
  const std::int64_t last = std::max(a.rows.rbegin()->first, b.rows.rbegin()->first);
  if (!range.last || last >= *range.last) return;
  throw DataError("[compare] neither run reaches step ", *range.last, ": ", reach(a), ", ", reach(b));
}

void note_largest(Comparison& comparison, const ComparedStep& step) {
  for (std::size_t i = 0; i < step.values.size(); ++i) {
    Comparison::Largest& largest = comparison.largest[i];
    if (step.values[i].relative > largest.relative) largest = {step.values[i].relative, step.step};
  }
}

}  // namespace

bool ComparedStep::agrees() const { return in_a && in_b && std::ranges::all_of(values, &ComparedValue::agrees); }

Comparison compare(const RunTable& a, const RunTable& b, const std::vector<Criterion>& criteria,
                   const StepRange& range) {
  check_reach(a, b, range);
  Comparison comparison;
  comparison.criteria = criteria;
  comparison.largest.resize(criteria.size());
  for (const std::int64_t step : steps_of(a, b, range)) {
    ComparedStep compared = compare_step(a, b, step, criteria);
    const bool is_common = compared.in_a && compared.in_b;
    if (!is_common && range.common_only) continue;
    if (is_common) ++comparison.num_common;
    note_largest(comparison, compared);
    if (!compared.agrees()) {
      if (!comparison.first_differing) comparison.first_differing = comparison.steps.size();
      ++comparison.num_differing;
    }
    comparison.steps.push_back(std::move(compared));
  }
  if (comparison.num_common == 0) throw DataError("[compare] no step in common: ", reach(a), ", ", reach(b));
  return comparison;
}

}  // namespace titan::app
