#include "core/train/checkpoint/checkpointer.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/number.hpp"
#include "core/base/quantity.hpp"
#include "core/data/loader.hpp"
#include "core/train/checkpoint/hub_save.hpp"

namespace titan::train {
namespace {

namespace fs = std::filesystem;
using checkpoint::Contents;

std::uint64_t sum_of(const std::vector<std::string>& numbers) {
  std::uint64_t sum = 0;
  for (const std::string& number : numbers) sum += parse_number<std::uint64_t>(number).value_or(0);
  return sum;
}

checkpoint::Saver::Options saver_options(const checkpoint::Options& options, const Loaded& loaded,
                                         const checkpoint::Origin& origin) {
  checkpoint::Saver::Options how;
  how.folder = options.folder;
  how.is_async = options.is_async;
  how.keep_latest_k = options.keep_latest_k;
  how.loaded = loaded.step;
  how.origin = [origin] { return origin; };
  return how;
}

}  // namespace

Checkpointer::Checkpointer(const checkpoint::Options& options, CheckpointParts parts, const Loaded& loaded)
    : options_(options),
      parts_(std::move(parts)),
      team_(parts_.ranks),
      loaded_step_(loaded.state ? loaded.step : std::nullopt),
      tensors_(state_tensors(parts_.tree, &parts_.trainer.optimizer())) {
  team_.set_activity("checkpoint.save");
  saver_ = std::make_unique<checkpoint::Saver>(team_, checkpoint::system_calls(),
                                               saver_options(options_, loaded, parts_.origin));
  work_together(team_, "looking for what is in the way", [this] { check_way(); });
  plan_.emplace(team_, tensors_);
  report_needs();
}

Checkpointer::~Checkpointer() = default;

void Checkpointer::check_way() const {
  // What the hub has no name for is told now, not after the last step.
  if (options_.last_save_in_hf) static_cast<void>(parts_.hub_names());
  if (team_.rank() != 0) return;
  const std::int64_t first = parts_.trainer.steps_done() + 1;
  for (const auto& entry : fs::directory_iterator(options_.folder)) {
    const std::optional<std::int64_t> step = checkpoint::step_of_name(entry.path().filename().native());
    const bool will_be_saved = step && *step >= first && (is_due(*step) || *step == parts_.last_step);
    if (!will_be_saved || checkpoint::is_ours(entry.path())) continue;
    throw CreateError("[checkpoint] something that is no checkpoint of titan is in the way of a save: ",
                      printable(entry.path().native()), ": move it away, or choose another --checkpoint.folder");
  }
}

void Checkpointer::report_needs() {
  std::vector<checkpoint::HeldPart> mine;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!plan_->writes(i)) continue;
    mine.push_back(held(tensors_[i]));
    bytes += tensors_[i].values.nbytes();
  }
  const StateTensor random = random_state_tensor(parts_.tree, team_.rank());
  mine.push_back(held(random));
  const std::uint64_t staging = saver_->prepare(mine);
  const std::uint64_t total = sum_of(team_.gather(concat(bytes)));
  log_info("checkpoint", "a save takes ", bytes_text(total), " in ", printable(options_.folder.native()),
           staging > 0 ? concat(", and ", bytes_text(staging), " of memory on this rank for its copy") : "");
  std::error_code error;
  const fs::space_info space = fs::space(options_.folder, error);
  if (team_.rank() != 0 || error || space.available >= total) return;
  log_warning("checkpoint", "there is no room for a checkpoint: need ", bytes_text(total), ", have ",
              bytes_text(space.available), " at ", printable(options_.folder.native()));
}

bool Checkpointer::is_due(std::int64_t step) const {
  return step % options_.interval == 0 || (step == 1 && options_.enable_first_step_checkpoint);
}

void Checkpointer::step_end(std::int64_t step, bool is_last) {
  saver_->poll();
  if (is_last) {
    run_end();
  } else if (is_due(step)) {
    save(step, Contents::full, /*is_export=*/false);
  }
}

void Checkpointer::run_end(bool is_early) {
  saver_->finish();
  const std::int64_t step = parts_.trainer.steps_done();
  if (step == 0) return;
  if (is_saved(step)) {
    const bool is_asked_otherwise = !is_early && options_.last_save_model_only && loaded_step_ != step;
    if (is_asked_otherwise) {
      log_info("checkpoint", checkpoint::step_name(step),
               " is saved already, with all of the state: titan checkpoint convert makes a model of it");
    }
  } else if (is_early || !options_.last_save_model_only) {
    save(step, Contents::full, /*is_export=*/false);
  } else if (options_.last_save_in_hf) {
    save_for_hub(step);
  } else {
    save(step, Contents::model_only, /*is_export=*/true);
  }
  saver_->finish();
}

void Checkpointer::finish() { saver_->finish(); }

bool Checkpointer::is_saved(std::int64_t step) const {
  return saver_->last_committed() == step || loaded_step_ == step;
}

std::optional<fs::path> Checkpointer::stop() {
  const std::int64_t step = parts_.trainer.steps_done();
  if (step == 0) return std::nullopt;
  saver_->finish();
  if (is_saved(step)) {
    log_info("checkpoint", "nothing new to save: step ", step);
  } else {
    if (const auto last = saver_->last_result()) {
      log_info("checkpoint", "saving before the end, the last save took ", seconds_text(last->seconds));
    }
    save(step, Contents::full, /*is_export=*/false);
    saver_->finish();
  }
  return options_.folder / checkpoint::step_name(step);
}

std::string Checkpointer::continuation() const {
  std::vector<std::string> dropped;
  if (options_.load_step >= 0) dropped.emplace_back("checkpoint.load_step");
  const checkpoint::Excluded& excluded = options_.excluded;
  if (excluded.optimizer || excluded.lr_scheduler || excluded.dataloader || excluded.train_state) {
    dropped.emplace_back("checkpoint.exclude_from_loading");
  }
  if (dropped.empty()) return "the same command goes on from there";
  return concat("the same command without ", join(dropped, " and "), " goes on from there");
}

void Checkpointer::save_seed() {
  save(0, Contents::model_only, /*is_export=*/false);
  saver_->finish();
}

void Checkpointer::save(std::int64_t step, Contents contents, bool is_export) {
  checkpoint::SaveRequest request;
  request.step = step;
  request.contents = contents;
  if (is_export) request.export_dtype = options_.export_dtype;
  const bool is_full = contents == Contents::full;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (plan_->writes(i) && (is_full || tensors_[i].kind == StateKind::model)) {
      request.parts.push_back(held(tensors_[i]));
    }
  }
  const StateTensor random = random_state_tensor(parts_.tree, team_.rank());
  if (is_full) {
    request.parts.push_back(held(random));
    request.extra.push_back({checkpoint::kTrainStateFile, train_state()});
  }
  team_.set_activity(concat("checkpoint.save ", checkpoint::step_name(step)));
  saver_->save(request);
}

void Checkpointer::save_for_hub(std::int64_t step) {
  saver_->finish();
  std::vector<checkpoint::HeldPart> model;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (plan_->writes(i) && tensors_[i].kind == StateKind::model) model.push_back(held(tensors_[i]));
  }
  const std::int64_t history = std::max(loaded_step_.value_or(0), saver_->last_committed().value_or(0));
  team_.set_activity(concat("checkpoint.save ", checkpoint::step_name(step)));
  save_hub_step(team_, options_, {step, history, std::move(model), parts_.hub_names(), parts_.origin});
}

std::string Checkpointer::train_state() {
  const Trainer& trainer = parts_.trainer;
  checkpoint::TrainState state;
  state.step = trainer.steps_done();
  state.num_tokens = trainer.total_tokens();
  state.schedule_step = trainer.schedule_step();
  const std::vector<std::string> all = team_.gather(trainer.data_state());
  if (team_.rank() != 0) return {};
  // Ranks that read the same rows say the same; merging takes any.
  state.dataloader = data::Loader::merge_states(all);
  return checkpoint::write_train_state(state);
}

}  // namespace titan::train
