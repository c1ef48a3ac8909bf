#include "tests/distributed/rank_runs.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/tensor/allocator.hpp"
#include "core/train/run.hpp"
#include "tests/distributed/rank_plugins.hpp"
#include "tests/distributed/whole_tensors.hpp"
#include "tests/support/rank_threads.hpp"

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

/// Takes the gradients when the optimizer is done, before the strategies that look after them let go of them.
struct GradientTap {
  WholeTensors& gradients;
  const nn::Tree* tree = nullptr;
  bool is_done = false;

  PluginInterface<titan_strategy_v1> strategy() { return {"gradient_tap", this, &table()}; }

 private:
  static const titan_strategy_v1& table() {
    static const titan_strategy_v1 made = [] {
      titan_strategy_v1 table{};
      table.struct_size = sizeof table;
      table.priority = std::numeric_limits<std::int32_t>::min();
      table.updated = [](void* ctx) -> titan_error* {
        static_cast<GradientTap*>(ctx)->take();
        return nullptr;
      };
      return table;
    }();
    return made;
  }
  void take() {
    if (!std::exchange(is_done, true)) gradients.add(*tree, &nn::Parameter::gradient);
  }
};

/// What the threads of one call of run_ranks() share.
struct Shared {
  const RankRuns& runs;
  const config::Config& config;
  std::mutex mutex;
  WholeTensors initial, gradients, parameters;
  std::vector<std::vector<StepFigures>> figures;
  std::vector<std::vector<std::vector<comm::WorkRecord>>> records;
};

std::vector<comm::WorkRecord> records_after(comm::Communicator& ranks, std::uint64_t last) {
  std::vector<comm::WorkRecord> found;
  for (comm::WorkRecord& record : ranks.records().snapshot()) {
    if (record.id > last) found.push_back(std::move(record));
  }
  return found;
}

train::WrapSource masked(const RankRuns& runs, const comm::Communicator& ranks) {
  if (!runs.ignore) return {};
  return [&runs, &ranks](std::unique_ptr<train::BatchSource> source) {
    return std::make_unique<MaskedSource>(std::move(source), train::data_rank(ranks.mesh(), ranks.rank()),
                                          train::data_degree(ranks.mesh()), runs.ignore);
  };
}

void run_steps(train::Run& run, std::size_t rank, Shared& shared) {
  comm::Communicator& ranks = run.ranks();
  for (std::int64_t step = 0; step < shared.runs.steps; ++step) {
    const std::uint64_t last = ranks.records().count();
    const std::optional<train::StepResult> result = run.trainer().step();
    if (!result) throw std::runtime_error("the data ended");
    shared.figures[rank].push_back({result->loss, result->grad_norm});
    shared.records[rank].push_back(records_after(ranks, last));
  }
}

void run_rank(comm::Communicator& communicator, Shared& shared) {
  const auto rank = static_cast<std::size_t>(communicator.rank());
  std::optional<RankPlugins> plugins;
  {
    const std::scoped_lock lock(shared.mutex);
    plugins.emplace(shared.config, communicator.rank(), communicator.size());
  }
  GradientTap tap{shared.gradients};
  EngineRun engine_run = plugins->run(communicator);
  engine_run.strategies.push_back(tap.strategy());
  train::Run run(engine_run, masked(shared.runs, communicator));
  tap.tree = &run.tree();
  shared.initial.add(run.tree(), &nn::Parameter::storage);
  run_steps(run, rank, shared);
  shared.parameters.add(run.tree(), &nn::Parameter::storage);
}

/// The figures of rank 0, which all ranks have to share.
std::vector<StepFigures> common_figures(const std::vector<std::vector<StepFigures>>& figures) {
  for (const auto& rank : figures) {
    for (std::size_t step = 0; step < rank.size(); ++step) {
      const StepFigures& first = figures.front()[step];
      if (rank[step].loss == first.loss && rank[step].grad_norm == first.grad_norm) continue;
      throw std::runtime_error("ranks report different figures of a step");
    }
  }
  return figures.front();
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

RankOutcome run_ranks(const RankRuns& runs) {
  tensor::install_cpu_allocator();
  // Models are small, ranks share the cores, and the number of threads has a say in the last bits.
  at::set_num_threads(1);
  const config::Config config = configure(runs.preset, with_defaults(runs));
  std::int64_t world_size = 1;
  for (const std::int64_t degree : runs.degrees) world_size *= degree;
  Shared shared{runs, config, {}, {}, {}, {}, {}, {}};
  shared.figures.resize(static_cast<std::size_t>(world_size));
  shared.records.resize(static_cast<std::size_t>(world_size));
  run_rank_threads(config::Mesh::from(config, world_size),
                   [&](comm::Communicator& communicator) { run_rank(communicator, shared); });
  return {common_figures(shared.figures), shared.initial.take("initial weights"), shared.gradients.take("gradients"),
          shared.parameters.take("weights"), std::move(shared.records)};
}

double largest_relative_difference(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) throw std::runtime_error("other names");
  double largest = 0;
  for (const auto& [name, tensor] : a) {
    const at::Tensor reference = b.at(name).to(at::kDouble);
    const double difference = tensor.to(at::kDouble).sub(reference).abs().max().item<double>();
    const double scale = reference.abs().max().item<double>();
    largest = std::max(largest, difference == 0 ? 0 : difference / scale);
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
