#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/parallel/pipeline/compute_order.hpp"
#include "plugins/parallel/pipeline/options.hpp"
#include "titan/abi/schedule.h"

namespace titan::parallel::pipeline {

/// A pipeline to be planned: see titan_schedule_request.
struct Request {
  std::uint32_t num_ranks = 1;
  std::vector<std::string> blocks;
  std::uint32_t num_micro_batches = 1;
  bool training = true;
  bool operator==(const Request&) const = default;
};
Request request_of(const titan_schedule_request& request);

/// The stages and actions of every rank.
struct Plan {
  std::vector<std::vector<titan_stage>> stages;
  Rows rows;
};

/// ConfigError for what can be refused before there is a tree: more stages than layers, too few micro-batches.
void check_options(const Options& options, std::int64_t num_ranks, std::int64_t num_layers);

/// Plans a pipeline. ConfigError names the option and the numbers.
Plan make_plan(const Options& options, const Request& request);

/// Plans, and remembers the last plan: ranks are asked about one after another.
class Planner {
 public:
  const Plan& plan(const Options& options, const titan_schedule_request& request);

 private:
  std::optional<Request> request_;
  Plan plan_;
};

}  // namespace titan::parallel::pipeline
