#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/chart/axis.hpp"

namespace titan::chart {

/// The size of a chart and where its field is.
inline constexpr double kWidth = 720, kHeight = 260, kLeft = 84, kRight = 704, kTop = 30, kBottom = 216;

/// Title, axes and ticks around a field that ends at `bottom`.
std::string frame(std::string_view title, std::string_view x_name, const Scale& x, Unit x_unit, double bottom);
std::string y_axis(const Scale& y, Unit unit);

/// Names beside their colors, in rows from `y` on; `height` grows by what they take.
std::string legend(const std::vector<std::string>& names, double y, double& height);

}  // namespace titan::chart
