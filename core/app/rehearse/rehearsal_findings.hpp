#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/app/rehearse/fit_search.hpp"
#include "core/app/rehearse/preflight.hpp"
#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"
#include "core/config/sizes.hpp"
#include "core/rehearsal/deadlock.hpp"
#include "core/rehearsal/estimate.hpp"
#include "core/rehearsal/fit.hpp"
#include "core/rehearsal/hardware.hpp"
#include "core/rehearsal/match.hpp"
#include "core/rehearsal/totals.hpp"
#include "titan/abi/model.h"

namespace titan::app {

/// All that was found out about a layout by rehearsing it. Members of one index belong to report.ranks of that index.
struct RehearsalFindings {
  std::string model;          // "llama3 llama3_405b"
  titan_model_facts facts{};  // of the whole model
  config::Mesh mesh;
  config::Sizes sizes;
  std::int64_t steps = 1;
  RehearsalReport report;
  rehearsal::Matching matching;
  std::optional<rehearsal::Deadlock> deadlock;  // of a sound matching
  rehearsal::Totals totals;
  rehearsal::Hardware hardware;
  std::optional<rehearsal::Estimate> estimate;  // where all ranks come to their end
  std::optional<rehearsal::Fit> fit;            // where there is memory to fit in
  bool must_fit = false;                        // it was asked for: not fitting is a failure
  std::vector<PreflightLine> preflight;
  std::optional<FitSearch> search;
  std::optional<std::int64_t> shown_rank;

  /// Every call is made by all, and all ranks come to their end.
  bool is_sound() const { return matching.agrees() && !deadlock; }
  /// Indices of the ranks that are shown.
  std::vector<std::size_t> shown() const;
};

/// What refuses the layout, in one line; empty where nothing does.
std::string soundness_verdict(const RehearsalFindings& findings);

/// Lines for a person.
std::string rehearsal_text(const RehearsalFindings& findings);
/// The same as one JSON object, in one line. What is not known is null.
std::string rehearsal_json(const RehearsalFindings& findings);
/// The same as one HTML page, which needs nothing else: no network, no script.
std::string rehearsal_page(const RehearsalFindings& findings);

}  // namespace titan::app
