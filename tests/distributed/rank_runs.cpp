#include "tests/distributed/rank_runs.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/tensor/allocator.hpp"
#include "core/train/layouts/explanation.hpp"
#include "core/train/layouts/layout_run.hpp"
#include "tests/distributed/rank_plugins.hpp"

namespace titan::testing {
namespace {

constexpr std::int64_t kIgnored = -100;

/// Ignores labels of a rank's rows, told apart by their number in the global stream.
class MaskedSource final : public train::BatchSource {
 public:
  MaskedSource(std::unique_ptr<train::BatchSource> rows, std::int64_t rank, std::int64_t degree,
               std::function<bool(std::int64_t, std::int64_t)> ignore)
      : rows_(std::move(rows)), rank_(rank), degree_(degree), ignore_(std::move(ignore)) {}

  std::optional<data::Batch> next() override {
    std::optional<data::Batch> batch = rows_->next();
    if (!batch) return batch;
    for (std::int64_t row = 0; row < batch->rows; ++row, ++num_rows_) mask(*batch, row);
    return batch;
  }
  void rewind() override {
    rows_->rewind();
    num_rows_ = 0;
  }
  std::string state() const override { return rows_->state(); }
  void load_state(const std::string& state) override { rows_->load_state(state); }

 private:
  void mask(data::Batch& batch, std::int64_t row) {
    for (std::int64_t column = 0; column < batch.length; ++column) {
      std::int64_t& label = batch.labels[static_cast<std::size_t>(row * batch.length + column)];
      if (label == kIgnored || !ignore_(num_rows_ * degree_ + rank_, column)) continue;
      label = kIgnored;
      --batch.num_valid;
    }
  }

  std::unique_ptr<train::BatchSource> rows_;
  std::int64_t rank_, degree_;
  std::function<bool(std::int64_t, std::int64_t)> ignore_;
  std::int64_t num_rows_ = 0;
};

train::WrapSource masked(const RankRuns& runs, const comm::Communicator& ranks) {
  if (!runs.ignore) return {};
  return [&runs, &ranks](std::unique_ptr<train::BatchSource> source) {
    return std::make_unique<MaskedSource>(std::move(source), train::data_rank(ranks.mesh(), ranks.rank()),
                                          train::data_degree(ranks.mesh()), runs.ignore);
  };
}

/// Makes ranks with plugins of their own.
LayoutRank make_rank(const config::Config& config, std::int64_t rank, std::int64_t world_size) {
  const auto plugins = std::make_shared<RankPlugins>(config, rank, world_size);
  return {plugins->run(), plugins};
}

/// Whole tensors that ranks agree on.
Tensors whole(const std::map<std::string, train::PartedTensor>& tensors, const std::string& what) {
  Tensors found;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_consistent()) throw std::runtime_error("replicas differ: " + what + " of " + name);
    if (!tensor.is_complete()) throw std::runtime_error("stored nowhere: a part of " + name);
    found[name] = tensor.whole();
  }
  return found;
}

/// The figures of rank 0, which all ranks have to share.
std::vector<StepFigures> common_figures(const std::vector<std::vector<train::LayoutFigures>>& figures) {
  for (const auto& rank : figures) {
    for (std::size_t step = 0; step < rank.size(); ++step) {
      const train::LayoutFigures& first = figures.front()[step];
      if (rank[step].loss == first.loss && rank[step].grad_norm == first.grad_norm) continue;
      throw std::runtime_error("ranks report different figures of a step");
    }
  }
  std::vector<StepFigures> common;
  for (const train::LayoutFigures& step : figures.front()) common.push_back({step.loss, step.grad_norm});
  return common;
}

/// The options that ask for the layout.
Settings degree_settings(const RankRuns& runs) {
  constexpr std::array kOptions = {"pipeline_parallel_degree", "data_parallel_replicate_degree",
                                   "data_parallel_shard_degree", "context_parallel_degree", "tensor_parallel_degree"};
  static_assert(kOptions.size() == config::kNumAxes);
  Settings settings;
  for (std::size_t axis = 0; axis < config::kNumAxes; ++axis) {
    settings.push_back({std::string("parallelism.") + kOptions[axis], std::to_string(runs.degrees[axis])});
  }
  settings.push_back({"parallelism.expert_parallel_degree", std::to_string(runs.expert_degree)});
  return settings;
}

Settings with_defaults(const RankRuns& runs) {
  const std::string source = TITAN_SOURCE_FOLDER;
  Settings settings{{"debug.seed", "7"},
                    {"debug.replica_audit_freq", "1"},
                    {"training.steps", std::to_string(runs.steps)},
                    {"hf_assets_path", source + "/tests/assets/tokenizer"},
                    {"dataloader.dataset_path", source + "/tests/assets/corpus"}};
  for (const Settings& more : {degree_settings(runs), runs.settings}) {
    settings.insert(settings.end(), more.begin(), more.end());
  }
  return settings;
}

}  // namespace

config::Config configuration(const RankRuns& runs) { return configure(runs.preset, with_defaults(runs)); }

std::int64_t num_ranks(const RankRuns& runs) {
  std::int64_t product = 1;
  for (const std::int64_t degree : runs.degrees) product *= degree;
  return product;
}

RankOutcome run_ranks(const RankRuns& runs) {
  tensor::install_cpu_allocator();
  // Models are small, ranks share the cores, and the number of threads has a say in the last bits.
  at::set_num_threads(1);
  const config::Config config = configuration(runs);
  const std::int64_t world_size = num_ranks(runs);
  train::LayoutRun layout{config::Mesh::from(config, world_size), runs.steps,
                          [&](std::int64_t rank) { return make_rank(config, rank, world_size); },
                          [&](const comm::Communicator& ranks) { return masked(runs, ranks); }};
  train::LayoutOutcome outcome = train::run_layout(layout);
  return {common_figures(outcome.figures),
          whole(outcome.initial, "initial weights"),
          whole(outcome.first_gradients, "gradients"),
          whole(outcome.weights, "weights"),
          whole(outcome.buffers, "buffers"),
          std::move(outcome.records)};
}

double largest_relative_difference(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) throw std::runtime_error("other names");
  double largest = 0;
  for (const auto& [name, tensor] : a) {
    largest = std::max(largest, train::relative_difference(tensor, b.at(name)));
  }
  return largest;
}

bool bit_equal(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end() || !tensor.equal(other->second)) return false;
  }
  return true;
}

}  // namespace titan::testing
