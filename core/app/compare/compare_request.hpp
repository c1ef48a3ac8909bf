#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/app/compare/comparison.hpp"
#include "core/config/cli_reader.hpp"

namespace titan::app {

/// What the words after `titan compare` ask for.
struct CompareRequest {
  std::vector<std::string> runs;       // one or two, the first one is A
  std::optional<std::string> stored;   // --import: a reference to compare A with
  std::optional<std::string> written;  // --export: where A is stored
  std::vector<Criterion> criteria;     // columns as asked for, else loss and grad_norm
  bool columns_are_given = false;      // otherwise what a run does not have is left out, all but the loss
  StepRange range;
};

/// Flags of `titan compare`.
std::vector<config::Flag> compare_flags();

/// Reads them. UsageError names the flag that is wrong.
CompareRequest compare_request(const config::CommandLine& line);

}  // namespace titan::app
