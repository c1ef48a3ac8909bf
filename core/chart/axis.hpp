#pragma once

#include <string>
#include <vector>

namespace titan::chart {

/// What numbers of an axis are; a count is whole.
enum class Unit { number, count, bytes, seconds };

/// A number of an axis for a person: "1.5 GiB", "0.25 s", "8e-05".
std::string number_text(double value, Unit unit);

/// Round numbers between two, some `count` of them; none when they are not finite or equal.
std::vector<double> ticks(double low, double high, std::size_t count, Unit unit);

/// Maps values to places on a picture.
struct Scale {
  double low = 0, high = 1, begin = 0, end = 1;  // of the values; where they are drawn

  double at(double value) const { return begin + (value - low) / (high - low) * (end - begin); }
};

/// A scale from `low` to `high`, a little wider when they are equal.
Scale scale(double low, double high, double begin, double end);

}  // namespace titan::chart
