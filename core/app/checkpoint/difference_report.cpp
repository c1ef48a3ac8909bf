#include <algorithm>
#include <array>
#include <cstdio>

#include "core/app/aligned_table.hpp"
#include "core/app/checkpoint/difference.hpp"
#include "core/base/listing.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

std::string list_text(const char* title, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string text = concat(title, ":\n");
  for (std::size_t i = 0; i < std::min(items.size(), kMostListed); ++i) text += concat("  ", printable(items[i]), "\n");
  return items.size() > kMostListed ? concat(text, "  and ", items.size() - kMostListed, " more\n") : text;
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string values_text(const std::vector<TensorDifference>& values) {
  if (values.empty()) return {};
  std::vector<Row> rows{{"tensor", "max |a-b|", "of max |b|", "elements"}};
  for (std::size_t i = 0; i < std::min(values.size(), kMostListed); ++i) {
    const TensorDifference& value = values[i];
    rows.push_back(
        {printable(value.name), number_text(value.absolute), number_text(value.relative), concat(value.num_differing)});
  }
  const std::string text = concat("values that differ, the worst first:\n", aligned(rows));
  return values.size() > kMostListed ? concat(text, "  and ", values.size() - kMostListed, " more\n") : text;
}

}  // namespace

std::string difference_text(const Difference& difference) {
  return concat(list_text("only in A", difference.only_a), list_text("only in B", difference.only_b),
                list_text("shapes that differ", difference.shapes), list_text("dtypes that differ", difference.dtypes),
                values_text(difference.values));
}

std::string difference_summary(const Difference& difference, std::optional<double> tolerance) {
  const auto beyond = std::ranges::count_if(
      difference.values, [&](const TensorDifference& value) { return !tolerance || value.relative > *tolerance; });
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) parts.push_back(concat(count, ' ', what));
  };
  add(difference.only_a.size(), "only in A");
  add(difference.only_b.size(), "only in B");
  add(difference.shapes.size(), "of another shape");
  if (!tolerance) add(difference.dtypes.size(), "of another dtype");
  add(static_cast<std::size_t>(beyond), tolerance ? "beyond the tolerance" : "of other values");
  return concat("tensors: ", join(parts, ", "));
}

}  // namespace titan::app
