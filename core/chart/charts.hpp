#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/chart/axis.hpp"

namespace titan::chart {

/// The color of a series is by its place among the others, unless it is told.
inline constexpr std::size_t kByPlace = std::numeric_limits<std::size_t>::max();

/// Something that was at a place of the axis, where there may be no value: a line across the field.
struct Mark {
  double x = 0;
  std::string title;  // when the mouse rests on it
};

/// One line: places and values, NaN where there is none.
struct Series {
  std::string name;
  std::vector<double> x, y;
  std::size_t color = kByPlace;
};

struct LegendEntry {
  std::string name;
  std::size_t color = 0;
};

/// Two charts of the usual size fit beside each other, above one as wide as a page.
inline constexpr double kUsualWidth = 530, kUsualHeight = 250, kPageWidth = 1080;

/// Lines over a common axis. Long ones are thinned: of each narrow part of the axis the lowest and highest value stay.
struct LineChart {
  std::string title, x_name;
  Unit x_unit = Unit::number, unit = Unit::number;
  std::vector<Series> series;
  bool has_zero = false;  // the axis begins at 0, so that how much values differ is seen in proportion
  std::vector<Mark> marks = {};
};
std::string render(const LineChart& chart);

/// Bands on top of each other.
struct StackedChart {
  std::string title, x_name;
  Unit x_unit = Unit::number, unit = Unit::number;
  std::vector<double> x;
  std::vector<Series> bands;  // their y alone is used, as long as x
  bool is_bars = false;       // each place a bar, else areas
  double width = kUsualWidth, height = kUsualHeight;
  std::vector<Mark> marks = {};
  double limit = std::nan("");  // a value that may not be passed: a line along the field; NaN: none
};
std::string render(const StackedChart& chart);

/// Something that takes time.
struct Bar {
  double begin = 0, end = 0;
  std::size_t color = 0;
  std::string title, label;  // when the mouse rests on it; in it, where there is room
};
struct Lane {
  std::string name, note;  // before and behind it
  std::vector<Bar> bars;
};

/// Lanes under each other over a common time in seconds.
struct LaneChart {
  std::string title, x_name;
  std::vector<Lane> lanes;
  std::vector<LegendEntry> legend;
  double begin = std::nan(""), end = std::nan("");  // what is drawn; NaN: all bars
};
std::string render(const LaneChart& chart);

/// One line of text whose characters are as high as the values: of each part of them the largest.
std::string sparkline(const std::vector<std::int64_t>& values, std::size_t width);

}  // namespace titan::chart
