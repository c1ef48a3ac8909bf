#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace titan::chart {

/// What numbers of an axis are; a count is whole.
enum class Unit { number, count, bytes, seconds };

/// A number for a person: "1.5 GiB", "250 ms", "34 h 17 min", "8e-05", "12,345".
std::string number_text(double value, Unit unit);

/// Round numbers between two, some `count` of them; none when they are not finite or equal.
std::vector<double> ticks(double low, double high, std::size_t count, Unit unit);

/// The texts of ticks: one unit and as many digits for all of an axis, no two of them the same.
std::vector<std::string> tick_texts(const std::vector<double>& ticks, Unit unit);

/// Maps values to places on a picture.
struct Scale {
  double low = 0, high = 1, begin = 0, end = 1;  // of the values; where they are drawn

  double at(double value) const { return begin + (value - low) / (high - low) * (end - begin); }
};

/// A scale from `low` to `high`, a little wider when they are equal.
Scale scale(double low, double high, double begin, double end);

/// The same from tick to tick, so that no value is drawn on the frame's edge without a number beside it.
Scale round_scale(double low, double high, std::size_t count, Unit unit, double begin, double end);

}  // namespace titan::chart
