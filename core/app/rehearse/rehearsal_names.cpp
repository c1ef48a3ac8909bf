#include "core/app/rehearse/rehearsal_names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/base/number_runs.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/axis.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kMostRuns = 6;

std::string printed(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string places_of(const config::Mesh& mesh, const std::vector<std::int64_t>& ranks) {
  std::size_t block = 1;
  std::string text;
  for (const config::Axis axis : config::kAxes) {
    std::set<std::int64_t> places;
    for (const std::int64_t rank : ranks) places.insert(mesh.coordinate(rank, axis));
    block *= places.size();
    if (static_cast<std::int64_t>(places.size()) == mesh.degree(axis)) continue;
    text += concat(text.empty() ? "" : ", ", name(axis), ' ', number_runs({places.begin(), places.end()}));
  }
  if (block != ranks.size()) return {};
  return text.empty() ? "all ranks" : text;
}

std::string kind_text(const config::Mesh& mesh, const RehearsedRank& rank) {
  const std::vector<std::int64_t>& ranks = rank.stands_for;
  if (ranks.size() <= 1) return concat("rank ", rank.rank);
  std::vector<std::string> runs = runs_of(ranks);
  const std::size_t more = runs.size() > kMostRuns ? runs.size() - kMostRuns : 0;
  runs.resize(runs.size() - more);
  const std::string places = places_of(mesh, ranks);
  return concat("ranks ", join(runs, ", "), more > 0 ? ", ..." : "", " (", ranks.size(), ")",
                places.empty() || places == "all ranks" ? "" : ": ", places == "all ranks" ? "" : places);
}

std::string flops_text(double flops) { return flops > 0 ? printed("%.3g", flops) : "0"; }

std::string count_text(std::int64_t count) {
  return chart::number_text(static_cast<double>(count), chart::Unit::count);
}

std::string size_text(std::int64_t bytes) {
  return bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

std::string size_text(double bytes) { return size_text(static_cast<std::int64_t>(std::llround(bytes))); }

std::string_view without_tag(std::string_view message) {
  const std::size_t end = message.find("] ");
  return message.starts_with('[') && end != std::string_view::npos ? message.substr(end + 2) : message;
}

std::string share_text(double share) { return printed("%.1f %%", 100 * share); }

}  // namespace titan::app
