#include "tests/distributed/trained_ranks.hpp"

#include <ATen/Parallel.h>

#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/comm/threads/rank_threads.hpp"
#include "core/tensor/allocator.hpp"
#include "core/train/checkpoint/state_tensors.hpp"
#include "core/train/layouts/whole_tensors.hpp"
#include "core/train/run.hpp"
#include "tests/distributed/rank_plugins.hpp"

namespace titan::testing {
namespace {

/// Writes down the events of one rank.
struct Recorder {
  std::int64_t rank = 0;
  const OnStep& on_step;
  StopFlag stop;
  std::map<std::int64_t, StepFigures> steps;
  std::map<std::int64_t, std::int64_t> tokens;
  std::map<std::int64_t, double> validation;

  PluginInterface<titan_observer_v1> plugin() { return {"recorder", this, &table()}; }

  static const titan_observer_v1& table() {
    static const titan_observer_v1 made{
        .struct_size = sizeof(titan_observer_v1),
        .events = TITAN_EVENT_STEP_END | TITAN_EVENT_VALIDATION,
        .run_begin = nullptr,
        .step_end = [](void* self, const titan_step_event* event) -> titan_error* {
          auto& recorder = *static_cast<Recorder*>(self);
          recorder.steps[event->step] = {event->loss, event->grad_norm};
          recorder.tokens[event->step] = event->total_tokens;
          if (recorder.on_step) recorder.on_step(recorder.rank, event->step, recorder.stop);
          return nullptr;
        },
        .validation = [](void* self, const titan_validation_event* event) -> titan_error* {
          static_cast<Recorder*>(self)->validation[event->step] = event->loss;
          return nullptr;
        },
        .run_end = nullptr,
        .collective = nullptr,
        .span = nullptr,
        .dump = nullptr,
        .wanted = nullptr,
    };
    return made;
  }
};

/// What the threads of one call share.
struct Shared {
  std::mutex mutex;
  std::map<std::string, train::PartedTensor> state;
  Trained trained;
};

void add_state(train::Run& run, std::int64_t rank, Shared& shared) {
  for (const train::StateTensor& tensor : train::state_tensors(run.tree(), &run.trainer().optimizer())) {
    train::PartedTensor& whole = shared.state[tensor.tensor.name];
    whole.shape = tensor.tensor.shape;
    whole.parts.push_back({rank, tensor.box, tensor.values.clone()});
  }
}

void run_rank(comm::Communicator& communicator, const config::Config& config, const RankRuns& runs,
              const OnStep& on_step, Shared& shared) {
  const std::int64_t rank = communicator.rank();
  std::unique_ptr<RankPlugins> plugins;
  {
    const std::scoped_lock lock(shared.mutex);
    plugins = std::make_unique<RankPlugins>(config, rank, communicator.size());
  }
  Recorder recorder{rank, on_step, {}, {}, {}, {}};
  EngineRun engine_run = plugins->run(communicator);
  engine_run.stop = &recorder.stop;
  engine_run.observers.push_back(recorder.plugin());
  if (runs.add) runs.add(rank, engine_run);
  train::Run run(engine_run);
  run.train();
  const std::scoped_lock lock(shared.mutex);
  add_state(run, rank, shared);
  shared.trained.data[static_cast<std::size_t>(rank)] = run.trainer().data_state();
  shared.trained.random[static_cast<std::size_t>(rank)] = run.tree().random_state();
  if (rank != 0) return;
  shared.trained.steps = std::move(recorder.steps);
  shared.trained.tokens = std::move(recorder.tokens);
  shared.trained.validation = std::move(recorder.validation);
}

}  // namespace

Trained train_ranks(const RankRuns& runs, const OnStep& on_step) {
  tensor::install_cpu_allocator();
  at::set_num_threads(1);
  const config::Config config = configuration(runs);
  const auto count = static_cast<std::size_t>(num_ranks(runs));
  Shared shared;
  shared.trained.data.resize(count);
  shared.trained.random.resize(count);
  comm::run_rank_threads(config::Mesh::from(config, num_ranks(runs)), [&](comm::Communicator& communicator) {
    run_rank(communicator, config, runs, on_step, shared);
  });
  for (const auto& [name, tensor] : shared.state) {
    if (!tensor.is_consistent()) throw std::runtime_error("replicas differ: " + name);
    if (!tensor.is_complete()) throw std::runtime_error("stored nowhere: a part of " + name);
    shared.trained.state[name] = tensor.whole();
  }
  return std::move(shared.trained);
}

RankRuns with(RankRuns runs, const Settings& settings) {
  runs.settings.insert(runs.settings.end(), settings.begin(), settings.end());
  return runs;
}

RankRuns saving(RankRuns runs, const std::filesystem::path& folder) {
  return with(std::move(runs), {{"checkpoint.enable", "true"},
                                {"checkpoint.folder", folder.native()},
                                {"checkpoint.last_save_model_only", "false"},
                                {"checkpoint.interval", "1000"}});
}

}  // namespace titan::testing
