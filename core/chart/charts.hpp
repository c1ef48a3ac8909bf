#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/chart/axis.hpp"

namespace titan::chart {

/// One line: places and values, NaN where there is none.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

/// Lines over a common axis. Long ones are thinned: of each narrow part of the axis the lowest and highest value stay.
struct LineChart {
  std::string title, x_name;
  Unit x_unit = Unit::number, unit = Unit::number;
  std::vector<Series> series;
};
std::string render(const LineChart& chart);

/// Bands on top of each other.
struct StackedChart {
  std::string title, x_name;
  Unit x_unit = Unit::number, unit = Unit::number;
  std::vector<double> x;
  std::vector<Series> bands;  // their y alone is used, as long as x
  bool is_bars = false;       // each place a bar, else areas
};
std::string render(const StackedChart& chart);

/// Something that takes time.
struct Bar {
  double begin = 0, end = 0;
  std::size_t color = 0;
  std::string title;
};
struct Lane {
  std::string name;
  std::vector<Bar> bars;
};

/// Lanes under each other over a common time in seconds.
struct LaneChart {
  std::string title;
  std::vector<Lane> lanes;
  std::vector<std::string> legend;  // names of the colors, from 0
};
std::string render(const LaneChart& chart);

/// One line of text whose characters are as high as the values: of each part of them the largest.
std::string sparkline(const std::vector<std::int64_t>& values, std::size_t width);

}  // namespace titan::chart
