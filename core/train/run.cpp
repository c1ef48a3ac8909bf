#include "core/train/run.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/thread_stack.hpp"
#include "core/checkpoint/hub/model_names.hpp"
#include "core/checkpoint/saved_config.hpp"
#include "core/train/checkpoint/checkpointer.hpp"
#include "core/train/checkpoint/origin.hpp"
#include "core/train/checkpoint/rank_team.hpp"
#include "core/train/ending.hpp"
#include "core/train/interruption.hpp"
#include "core/train/machine.hpp"
#include "core/train/memory_need.hpp"
#include "core/train/pipeline/plan_pipeline.hpp"
#include "core/train/ranks/replicas.hpp"
#include "core/train/ranks/same_run.hpp"
#include "core/train/run_parts.hpp"
#include "core/train/train_loop.hpp"
#include "core/train/vocabulary.hpp"

namespace titan::train {
namespace {

constexpr auto kStackTime = std::chrono::milliseconds(500);
constexpr std::size_t kFunctions = 8;

std::vector<std::string> module_names(const nn::Tree& tree) {
  std::vector<std::string> names;
  for (nn::ModuleId module = 0; module < tree.num_modules(); ++module) names.push_back(tree.name(module));
  return names;
}

std::int64_t rank_of(const EngineRun& run) {
  return run.communicator != nullptr ? run.communicator->rank() : run.ranks.rank;
}

}  // namespace

Run::Run(const EngineRun& run, const WrapSource& wrap)
    : run_(run),
      options_(read_run_options(*run.config, run.mesh, rank_of(run))),
      facts_(model_facts(run, options_.sizes.length)),
      observers_(run.host, run.observers),
      guards_(run.host, run.guards),
      strategies_(run.host, run.strategies),
      control_(run, position_, observers_, tree_),
      training_thread_(static_cast<pid_t>(::syscall(SYS_gettid))) {
  enable_thread_stacks();
  dumper_.emplace(run.dump_requests, [this] { dump_on_request(); });
  if (observers_.want(TITAN_EVENT_SPAN)) {
    position_.on_span = [this](const titan_span_event& event) { observers_.span(event); };
  }
  strategies_.validate(run.mesh, facts_);
  join();
  try {
    prepare(wrap);
  } catch (...) {
    fail();
  }
}

void Run::join() {
  const PhaseScope phase(TITAN_IN_JOIN);
  ranks_.emplace(run_, options_.timeouts.init);
}

void Run::prepare(const WrapSource& wrap) {
  watch_.emplace(*this);
  require_same_run(facts_of(run_), *ranks_);
  optim::LrSchedule schedule = make_schedule(options_);
  const auto tokenizer = run_.has_values ? open_data() : nullptr;
  if (wrap) source_ = wrap(std::move(source_));
  make_tree();
  guards_.attach(control_, tree_, ranks());
  if (ranks_->mesh().degree(config::Axis::pp) > 1) make_pipeline();
  if (run_.has_values) {
    validator_ =
        make_validator(options_, tree_, tokenizer, *ranks_, strategies_, pipeline_ ? &*pipeline_ : nullptr, run_.stop);
  }
  {
    const PhaseScope phase(TITAN_IN_INIT);
    materialise(options_, *ranks_, tree_, run_.has_values);
    make_trainer(std::move(schedule));
  }
  if (options_.checkpoint.enable && run_.has_values) load();
  compare_weights(tree_, *ranks_);
  strategies_.materialised();
}

std::shared_ptr<const data::Tokenizer> Run::open_data() {
  auto tokenizer = data::Tokenizer::load(options_.tokenizer_path);
  check_vocabulary(tokenizer->vocab_size(), options_.tokenizer_path.native(), facts_.vocab_size);
  // Of several ranks none leaves alone, in the loader as little as inside a step.
  source_ =
      std::make_unique<LoaderSource>(open_training_data(options_, tokenizer, ranks_->alone() ? run_.stop : nullptr));
  return tokenizer;
}

Run::Watch::Watch(Run& run) : run_(run) {
  comm::Communicator& ranks = run.ranks();
  run.control_.set_communicator(&ranks);
  run.control_.set_guards(&run.guards_);
  ranks.set_witness({[&run] { return run.position_.describe(); },
                     [&run](std::int32_t cause, std::string_view reason) { run.control_.dump(cause, reason); }});
  ranks.records().set_capacity(static_cast<std::size_t>(run.run_.config->integer("comm.trace_buf_size")));
  ranks.running_module = [&run] { return run.tree_.name(run.tree_.running()); };
  ranks.records().on_retired = [&run](const comm::WorkRecord& record) { run.observers_.collective(record); };
}

Run::Watch::~Watch() {
  comm::Communicator& ranks = run_.ranks();
  run_.control_.set_communicator(nullptr);
  ranks.set_witness({});
  ranks.running_module = nullptr;
  ranks.records().on_retired = nullptr;
}

void Run::dump_on_request() {
  const std::string stack = stack_text(stack_of(training_thread_, kStackTime), kFunctions);
  log_info("train", "SIGUSR2: this rank is at ", position_.describe(), "; it runs ",
           stack.empty() ? "what cannot be told: its thread did not answer" : stack);
  if (observers_.want(TITAN_EVENT_DUMP)) return control_.dump(TITAN_DUMP_REQUEST, "SIGUSR2");
  log_warning("train", "no plugin of this run writes down what is known: observability has the flight recorder");
}

void Run::make_tree() {
  const PhaseScope phase(TITAN_IN_BUILD);
  build_tree(run_, tree_);
  position_.name_modules(module_names(tree_));
  tree_.set_mesh(ranks_->mesh());
  if (ranks_->mesh().degree(config::Axis::pp) > 1) plan_stages();
  strategies_.apply(tree_, ranks());
  if (run_.has_values) check_memory(tree_, options_.precision, run_.ranks.local_world_size, memory_capacity());
  // What a checkpoint holds is whole between steps alone.
  if (run_.stop != nullptr && ranks_->alone() && !options_.checkpoint.saves()) stop_between_blocks(tree_, *run_.stop);
  if (options_.debug.deterministic) nondeterminism_.emplace(tree_);
}

void Run::plan_stages() {
  tables_ = plan_pipeline(run_, block_names(tree_), options_.sizes.group);
  // Before anything is placed: ranks of other orders would take each other's tensors for what they wait for.
  require_same_run(facts_of(tables_), *ranks_);
}

void Run::make_pipeline() {
  comm::Group& stages = ranks().group("pp");
  require_same_stages(tables_.training, static_cast<std::size_t>(stages.rank()), tree_);
  pipeline_.emplace(tree_, stages, std::move(tables_), &strategies_);
}

void Run::make_trainer(optim::LrSchedule schedule) {
  Trainer::Options how;
  how.num_micro_batches = options_.sizes.num_micro_batches;
  how.max_norm = options_.max_norm;
  how.ranks = &*ranks_;
  how.strategies = &strategies_;
  how.guards = &guards_;
  how.pipeline = pipeline_ ? &*pipeline_ : nullptr;
  how.stops_between_steps = options_.checkpoint.saves();
  how.audit_freq = options_.debug.replica_audit_freq;
  how.drift_check_freq = options_.debug.drift_check_freq;
  if (how.drift_check_freq > 0 && ranks_->rank() == 0 && !has_replicas(tree_, *ranks_)) {
    log_warning("train", "debug.drift_check_freq has no effect: no weight is on several ranks in this layout");
  }
  how.train_timeout = options_.timeouts.train;
  trainer_.emplace(tree_, *source_, make_optimizer(options_, tree_), std::move(schedule), how, run_.stop);
  control_.set_optimizer(&trainer_->optimizer());
}

void Run::load() {
  PhaseScope phase(TITAN_IN_LOAD);
  RankTeam team(*ranks_);
  team.set_activity("checkpoint.load");
  const checkpoint::Origin origin = origin_of(run_, ranks_->mesh());
  LoadTarget target{tree_,         trainer_->optimizer(), [this] { return hub_names(); },
                    origin.config, origin.plugins,        options_.steps};
  loaded_ = load_checkpoint(team, options_.checkpoint, target);
  if (loaded_.step) phase.set_detail(checkpoint::step_name(*loaded_.step));
  if (!loaded_.state) return;
  const checkpoint::TrainState& state = *loaded_.state;
  trainer_->go_on_from(state.step, state.schedule_step, state.num_tokens);
  if (state.dataloader) source_->load_state(*state.dataloader);
}

std::vector<checkpoint::HubName> Run::hub_names() const { return checkpoint::hub_names_of(run_.host, run_.model); }

void Run::train() {
  try {
    train_or_save_seed();
    position_.phase = TITAN_IN_END;
    control_.dump(TITAN_DUMP_EXIT, "the run has ended");
    ranks_->leave();
  } catch (...) {
    fail();
  }
}

void Run::train_or_save_seed() {
  const checkpoint::Options& saving = options_.checkpoint;
  if (ranks_->rank() == 0) {
    for (const std::string& text : checkpoint::ignored_options(*run_.config)) log_warning("checkpoint", text);
  }
  if (loaded_.is_finished) {
    log_info("train", "nothing is left to train, the last step is saved: ", checkpoint::step_name(*loaded_.step),
             " of ", options_.steps);
    return;
  }
  std::optional<Checkpointer> checkpointer;
  if (saving.saves()) {
    checkpointer.emplace(saving,
                         CheckpointParts{tree_, *trainer_, *ranks_, [this] { return hub_names(); },
                                         origin_of(run_, ranks_->mesh()), options_.steps},
                         loaded_);
  }
  if (saving.create_seed_checkpoint) return checkpointer->save_seed();
  const std::string device_name = processor_name();
  LoopParts parts{*trainer_, validator_.get(), observers_, run_event(options_, tree_, facts_, device_name), run_.begin};
  parts.begin.first_step = trainer_->steps_done() + 1;
  parts.ranks = &*ranks_;
  parts.checkpointer = checkpointer ? &*checkpointer : nullptr;
  parts.end_of_data_is_error = options_.end_of_data_is_error;
  announce(run_, options_, *ranks_, parts.begin);
  position_.phase = TITAN_IN_STEP;  // between phases too, from here on
  run_training_loop(parts);
  position_.phase = TITAN_IN_END;
}

void Run::fail() {
  const Ending ending = ending_of(std::current_exception());
  const bool is_stop = ending.code > 128 || ending.code == TITAN_ERROR_STOPPED;
  // Who was asked to stop fails in nobody's eyes, if all have agreed to it.
  if (is_stop && ranks_->has_parted()) {
    control_.dump(TITAN_DUMP_EXIT, ending.message);
  } else {
    // The cause that is told first is that of the failure.
    if (is_stop) ranks().report_trouble(TITAN_DUMP_STOP, ending.message);
    ranks_->fail(ending.message);
  }
  throw;
}

}  // namespace titan::train
