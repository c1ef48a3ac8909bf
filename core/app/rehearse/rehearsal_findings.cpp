#include "core/app/rehearse/rehearsal_findings.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kMostShown = 3;

}  // namespace

std::vector<std::size_t> RehearsalFindings::shown() const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    const RehearsedRank& rank = report.ranks[i];
    const bool stands =
        shown_rank && (rank.rank == *shown_rank || std::ranges::binary_search(rank.stands_for, *shown_rank));
    if (!shown_rank || stands) indices.push_back(i);
  }
  return indices;
}

std::string soundness_verdict(const RehearsalFindings& findings) {
  const std::vector<rehearsal::Mismatch>& mismatches = findings.matching.mismatches;
  if (!mismatches.empty()) {
    std::vector<std::string> texts;
    for (const rehearsal::Mismatch& mismatch : mismatches) {
      if (texts.size() < kMostShown) texts.push_back(mismatch.text);
    }
    const std::size_t more = mismatches.size() - texts.size();
    return concat("[rehearse] ranks do not make the same calls: ", join(texts, "; "),
                  more == 0 ? std::string() : concat("; and ", more, " more"));
  }
  if (findings.deadlock) return concat("[rehearse] ranks wait for each other for ever: ", findings.deadlock->text);
  return {};
}

}  // namespace titan::app
