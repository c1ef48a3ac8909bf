#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"

namespace titan::chart {
namespace {

constexpr double kFirstGrouped = 1e4, kMostGrouped = 1e15;

std::string formatted(const char* form, int digits, double value) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), form, digits, value);
  return text.data();
}

/// "12,345"
std::string grouped(double value) {
  std::string text = formatted("%.*f", 0, value);
  const std::size_t first = text.starts_with('-') ? 2 : 1;
  for (std::size_t at = text.size(); at > first + 2;) text.insert(at -= 3, 1, ',');
  return text;
}

/// How many digits after the point tell ticks of that step from each other.
int digits_of(double step) { return std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-6)), 0, 12); }

struct Suffix {
  double size;
  const char* text;
};

/// The largest unit that is not above the highest tick.
Suffix suffix_of(double top, const Suffix* first, const Suffix* last) {
  Suffix found = *first;
  for (; first != last; ++first) {
    if (first->size <= top) found = *first;
  }
  return found;
}

std::string suffixed(double tick, double step, const Suffix& suffix, bool is_binary) {
  if (tick == 0) return "0";
  const double shown_step = step / suffix.size;
  // Of powers of two each half has one digit more.
  const int digits =
      is_binary ? std::clamp(static_cast<int>(-std::floor(std::log2(shown_step) + 1e-6)), 0, 6) : digits_of(shown_step);
  return concat(formatted("%.*f", digits, tick / suffix.size), suffix.text);
}

/// "8e-4"
std::string scientific(double tick, double top, double step) {
  if (tick == 0) return "0";
  const auto power = static_cast<int>(std::floor(std::log10(top) + 1e-9));
  return concat(formatted("%.*f", digits_of(step / std::pow(10, power)), tick / std::pow(10, power)), "e", power);
}

std::string plain(double tick, double top, double step, Unit unit) {
  constexpr std::array<Suffix, 4> kThousands{{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}}};
  constexpr double kMost = 1e12, kLeast = 1e-3;
  if (top >= kFirstGrouped && top < kMost && step >= 1) {
    const Suffix suffix = suffix_of(top, kThousands.data(), kThousands.data() + kThousands.size());
    return digits_of(step / suffix.size) <= 2 ? suffixed(tick, step, suffix, false) : grouped(tick);
  }
  if (unit != Unit::count && (top >= kFirstGrouped || top < kLeast)) return scientific(tick, top, step);
  return formatted("%.*f", digits_of(step), tick == 0 ? 0 : tick);
}

std::string tick_text(double tick, double top, double step, Unit unit) {
  constexpr std::array<Suffix, 6> kBytes{{{1, " B"},
                                          {1024, " KiB"},
                                          {1048576, " MiB"},
                                          {1073741824, " GiB"},
                                          {1099511627776, " TiB"},
                                          {1125899906842624, " PiB"}}};
  constexpr std::array<Suffix, 4> kSeconds{{{1e-9, " ns"}, {1e-6, " µs"}, {1e-3, " ms"}, {1, " s"}}};
  if (unit == Unit::bytes)
    return suffixed(tick, step, suffix_of(top, kBytes.data(), kBytes.data() + kBytes.size()), true);
  if (unit == Unit::seconds)
    return suffixed(tick, step, suffix_of(top, kSeconds.data(), kSeconds.data() + kSeconds.size()), false);
  return plain(tick, top, step, unit);
}

/// "250 ms", "12.5 s", "34 h 17 min"
std::string duration(double value) {
  constexpr double kFirstMinutes = 600, kHour = 3600, kMost = 1e9;
  const double size = std::abs(value);
  if (value >= kFirstMinutes && value < kMost) {
    const bool has_hours = value >= kHour;
    const std::int64_t parts = std::llround(has_hours ? value / 60 : value);
    return concat(parts / 60, has_hours ? " h " : " min ", parts % 60, has_hours ? " min" : " s");
  }
  if (size >= 1 || size == 0 || !std::isfinite(size)) return concat(formatted("%.*g", 4, value), " s");
  const bool is_milli = size >= 1e-3;
  return concat(formatted("%.*g", 4, value * (is_milli ? 1e3 : 1e6)), is_milli ? " ms" : " µs");
}

}  // namespace

std::string number_text(double value, Unit unit) {
  if (unit == Unit::bytes && value >= 0 && value < 9e18) return bytes_text(static_cast<std::uint64_t>(value));
  if (unit == Unit::seconds) return duration(value);
  if (std::abs(value) >= kFirstGrouped && std::abs(value) < kMostGrouped) return grouped(value);
  return unit == Unit::count ? formatted("%.*f", 0, value) : formatted("%.*g", 4, value);
}

std::vector<std::string> tick_texts(const std::vector<double>& ticks, Unit unit) {
  std::vector<std::string> texts;
  if (ticks.empty()) return texts;
  if (ticks.size() == 1) return {number_text(ticks.front(), unit)};
  const double top = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  for (const double tick : ticks) texts.push_back(tick_text(tick, top, ticks[1] - ticks[0], unit));
  return texts;
}

}  // namespace titan::chart
