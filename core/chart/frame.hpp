#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/chart/charts.hpp"

namespace titan::chart {

/// Where a chart's values are drawn; title and numbers are around it.
struct Field {
  double left = 0, right = 0, top = 0, bottom = 0;
};
Field field(double width, double height);

/// How many ticks have room.
std::size_t num_x_ticks(const Field& field);
inline constexpr std::size_t kYTicks = 5;

/// Title, axes, and ticks of x.
std::string frame(std::string_view title, std::string_view x_name, const Scale& x, Unit x_unit, const Field& field);
std::string y_axis(const Scale& y, Unit unit, const Field& field);

/// Dashed lines across the field; the mouse finds their titles.
std::string marks(const std::vector<Mark>& marks, const Scale& x, const Field& field);
/// A dashed line along the field, with its value; nothing when it is outside.
std::string limit_line(double limit, const Scale& y, Unit unit, const Field& field);

/// Names beside their colors, in rows below the field; `height` is where they end.
std::string legend(const std::vector<LegendEntry>& entries, const Field& field, double& height);

/// A chart without anything to draw, and why.
std::string empty_chart(std::string_view title, std::string_view reason, double width);

}  // namespace titan::chart
