#include "plugins/parallel/pipeline/plan.hpp"

#include <algorithm>
#include <utility>

#include "plugins/parallel/pipeline/csv.hpp"
#include "plugins/parallel/pipeline/stage_split.hpp"
#include "plugins/parallel/pipeline/transfers.hpp"
#include "titan/sdk/error.hpp"
#include "titan/sdk/text.hpp"

namespace titan::parallel::pipeline {
namespace {

// Of micro-batches through stages, each a forward, a backward and their transfers. What is longer takes minutes to
// check.
constexpr std::int64_t kMostForwards = 1 << 16;

void check_length(std::int64_t num_stages, std::int64_t num_micro_batches) {
  if (num_stages * num_micro_batches <= kMostForwards) return;
  throw sdk::ConfigError("[pipeline] a schedule is too long: ", num_stages, " stages x ", kNumMicroBatches, " ",
                         num_micro_batches, " = ", num_stages * num_micro_batches, " forwards, at most ", kMostForwards,
                         ": fewer micro-batches at a time, or fewer stages");
}

void check_micro_batches(std::int64_t num_micro_batches, std::int64_t num_ranks) {
  if (num_micro_batches >= num_ranks) return;
  throw sdk::ConfigError("[pipeline] a pipeline needs at least as many micro-batches as ranks: ", kNumMicroBatches, " ",
                         num_micro_batches, ", parallelism.pipeline_parallel_degree ", num_ranks, ": set --",
                         kNumMicroBatches, " to at least ", num_ranks);
}

/// Options of which one would be ignored.
void check_contradictions(const Options& options) {
  const bool has_file = options.kind() == Kind::file, has_count = options.layers_per_stage.has_value();
  if (has_count && !options.modules.empty()) {
    throw sdk::ConfigError("[pipeline] two options say what the stages are: ", kLayersPerStage, " ",
                           *options.layers_per_stage, ", ", kModules, " of ", options.modules.size(),
                           ": leave one of them out");
  }
  if (has_file && has_count) {
    throw sdk::ConfigError("[pipeline] the file of the schedule says how many stages there are: ", options.csv, ", ",
                           kLayersPerStage, " ", *options.layers_per_stage, ": leave one of them out");
  }
  if (has_file && options.schedule != kDefaultSchedule) {
    throw sdk::ConfigError("[pipeline] two options say what the order is: ", kSchedule, " ", options.schedule, ", ",
                           kCsv, " ", options.csv, ": leave one of them out");
  }
}

Rows rows_of_file(const Options& options, const Request& request) {
  Rows rows = parse_csv(read_csv_file(options.csv), options.csv);
  if (rows.size() != request.num_ranks) {
    throw sdk::ConfigError("[pipeline] ", kCsv, " must have one line for each rank of the pipeline: ", options.csv,
                           ", ", rows.size(), " lines, ", request.num_ranks, " ranks");
  }
  std::uint32_t most = 0;
  for (const auto& row : rows) {
    for (const titan_action& action : row) most = std::max(most, action.micro_batch + 1);
  }
  if (most != request.num_micro_batches) {
    throw sdk::ConfigError("[pipeline] ", kCsv,
                           " must have as many micro-batches as go through the pipeline: ", options.csv, ", ", most,
                           " micro-batches, ", kNumMicroBatches, " ", request.num_micro_batches);
  }
  return rows;
}

Rows compute_rows(const Options& options, const Pass& pass) {
  switch (options.kind()) {
    case Kind::gpipe:
      return gpipe(pass);
    case Kind::interleaved:
      return interleaved(pass);
    default:
      return one_forward_one_backward(pass);
  }
}

Owners owners_in(const Rows& rows) {
  Owners owners;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    for (const titan_action& action : rows[rank]) owners.emplace(action.stage, rank);
  }
  return owners;
}

void deal_stages(Plan& plan, const Owners& owners, const std::vector<titan_stage>& stages) {
  plan.stages.resize(plan.rows.size());
  for (const titan_stage& stage : stages) {
    const auto owner = owners.find(stage.index);
    if (owner != owners.end()) plan.stages[owner->second].push_back(stage);
  }
}

}  // namespace

Request request_of(const titan_schedule_request& request) {
  Request read{request.num_ranks, {}, request.num_micro_batches, request.training != 0};
  for (std::uint32_t i = 0; i < request.num_blocks; ++i) read.blocks.emplace_back(sdk::view(request.blocks[i]));
  return read;
}

void check_options(const Options& options, std::int64_t num_ranks, std::int64_t num_layers) {
  check_contradictions(options);
  check_micro_batches(options.num_micro_batches, num_ranks);
  if (options.kind() != Kind::file && num_layers > 0) count_stages(options, num_ranks, {1, num_layers, 1});
}

Plan make_plan(const Options& options, const Request& request) {
  check_contradictions(options);
  check_micro_batches(request.num_micro_batches, request.num_ranks);
  Plan plan;
  std::int64_t num_stages = 0;
  if (options.kind() == Kind::file) {
    plan.rows = rows_of_file(options, request);
    const Owners owners = owners_in(plan.rows);
    num_stages = owners.empty() ? 0 : owners.rbegin()->first + 1;
    check_length(num_stages, request.num_micro_batches);
  } else {
    num_stages = count_stages(options, request.num_ranks, parts_of(request.blocks));
    check_length(num_stages, request.num_micro_batches);
    plan.rows =
        compute_rows(options, {request.num_ranks, static_cast<std::uint32_t>(num_stages), request.num_micro_batches});
  }
  if (!options.modules.empty() && num_stages != static_cast<std::int64_t>(options.modules.size())) {
    throw sdk::ConfigError("[pipeline] ", kCsv, " and ", kModules, " must have equally many stages: ", num_stages, ", ",
                           options.modules.size());
  }
  const Owners owners = owners_in(plan.rows);
  deal_stages(plan, owners, split_stages(options, request.blocks, num_stages));
  if (!request.training) plan.rows = without_backward(plan.rows);
  if (!has_transfers(plan.rows)) plan.rows = with_transfers(plan.rows, owners);
  return plan;
}

const Plan& Planner::plan(const Options& options, const titan_schedule_request& request) {
  Request asked = request_of(request);
  if (request_ != asked) {
    request_.reset();
    plan_ = make_plan(options, asked);
    request_ = std::move(asked);
  }
  return plan_;
}

}  // namespace titan::parallel::pipeline
