#include <algorithm>
#include <array>
#include <string_view>

#include "core/chart/charts.hpp"

namespace titan::chart {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

std::string sparkline(const std::vector<std::int64_t>& values, std::size_t width) {
  std::string text;
  if (values.empty()) return text;
  const std::int64_t most = std::max<std::int64_t>(*std::max_element(values.begin(), values.end()), 1);
  const std::size_t count = std::min(width, values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / count);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / count);
    const double part = static_cast<double>(*std::max_element(begin, end)) / static_cast<double>(most);
    text += kBlocks[static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * 7.0 + 0.5)];
  }
  return text;
}

}  // namespace titan::chart
