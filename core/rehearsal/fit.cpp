#include "core/rehearsal/fit.hpp"

#include <algorithm>

#include "core/base/listing.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"

namespace titan::rehearsal {
namespace {

std::string size_text(std::int64_t bytes) {
  return bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

std::string verdict(const Fit& fit, const RehearsedRank& worst) {
  const RankFit& rank = fit.ranks[fit.worst];
  const std::string place = worst.peak_place.empty() ? std::string() : concat(", in ", printable(worst.peak_place));
  const std::string peak = concat("rank ", rank.rank, " needs ", size_text(rank.peak_bytes), " at its peak", place);
  if (fit.fits()) {
    return concat("fits in ", size_text(fit.limit_bytes), ": ", peak, "; ", size_text(rank.headroom_bytes),
                  " are left");
  }
  return concat("does not fit in ", size_text(fit.limit_bytes), ": ", peak, "; ", size_text(-rank.headroom_bytes),
                " are missing, and ", fit.num_unfit, fit.num_unfit == 1 ? " rank does" : " ranks do", " not fit");
}

}  // namespace

Fit fit(const RehearsalReport& report, std::int64_t limit_bytes) {
  Fit found;
  found.limit_bytes = limit_bytes;
  for (const RehearsedRank& rank : report.ranks) {
    const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(rank.stands_for.size()));
    found.ranks.push_back({rank.rank, count, rank.peak_bytes, limit_bytes - rank.peak_bytes});
    if (!found.ranks.back().fits()) found.num_unfit += count;
    if (rank.peak_bytes > found.ranks[found.worst].peak_bytes) found.worst = found.ranks.size() - 1;
  }
  if (!report.ranks.empty()) found.text = verdict(found, report.ranks[found.worst]);
  return found;
}

}  // namespace titan::rehearsal
