#include "core/train/checkpoint/load.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/listing.hpp"
#include "core/base/log.hpp"
#include "core/base/number.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/model_tensors.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/step_folders.hpp"
#include "core/train/checkpoint/origin.hpp"
#include "core/train/checkpoint/rank_team.hpp"
#include "core/train/checkpoint/state_tensors.hpp"
#include "core/train/memory_need.hpp"

namespace titan::train {
namespace {

namespace fs = std::filesystem;
using checkpoint::Contents;
using checkpoint::Format;
using checkpoint::Options;
using checkpoint::Source;
using checkpoint::Team;

/// A folder to load from, and how much of it.
struct Choice {
  fs::path folder;
  std::optional<std::int64_t> step;  // of the run's own folder
  bool model_only = false;
};

/// Steps of ours in the folder, by increasing step.
std::vector<std::int64_t> own_steps(const fs::path& folder) {
  std::vector<std::int64_t> steps = checkpoint::step_folders(folder);
  std::erase_if(steps, [&](std::int64_t step) {
    const fs::path path = folder / checkpoint::step_name(step);
    const bool is_other = !checkpoint::is_ours(path);
    if (is_other)
      log_warning("checkpoint", "this is no checkpoint of titan, it is left alone: ", printable(path.native()));
    return is_other;
  });
  return steps;
}

/// Steps of the folder to try, the newest first.
std::vector<std::int64_t> steps_to_try(const Options& options) {
  std::vector<std::int64_t> steps = own_steps(options.folder);
  if (options.load_step < 0) {
    std::ranges::reverse(steps);
    return steps;
  }
  if (std::ranges::find(steps, options.load_step) != steps.end()) return {options.load_step};
  std::vector<std::string> found;
  for (const std::int64_t step : steps) found.push_back(concat(step));
  throw InputError("[checkpoint] there is no such step: checkpoint.load_step ", options.load_step, ", in ",
                   printable(options.folder.native()), " there ", steps.empty() ? "is none" : "are ",
                   join(found, ", "));
}

/// What rank 0 sees in the folder, told to all.
std::vector<std::int64_t> agreed_steps(Team& team, const Options& options) {
  std::string list;
  work_together(team, "listing the steps", [&] {
    if (team.rank() != 0) return;
    for (const std::int64_t step : steps_to_try(options)) list += concat(step, ' ');
  });
  std::vector<std::int64_t> steps;
  for (const std::string& number : split(team.gather(list).front(), ' ')) {
    if (const auto step = parse_number<std::int64_t>(number)) steps.push_back(*step);
  }
  return steps;
}

Source open_source(const Choice& choice, const Options& options, const LoadTarget& target) {
  Format format = checkpoint::format_of(choice.folder);
  if (options.initial_load_in_hf && !choice.step && format != Format::hugging_face) {
    throw DataError(
        "[checkpoint] these are no files of the Hugging Face hub, and checkpoint.initial_load_in_hf is on: ",
        printable(choice.folder.native()));
  }
  if (format == Format::titan) return checkpoint::open_titan(choice.folder);
  if (format == Format::dcp) return checkpoint::open_dcp(choice.folder);
  return checkpoint::translate(checkpoint::open_hub(choice.folder), target.hub_names());
}

/// One loading of one choice.
class Loading {
 public:
  Loading(Team& team, const Options& options, LoadTarget& target, const Choice& choice)
      : team_(team), options_(options), target_(target), choice_(choice) {}

  /// What may be damaged in a step is found here, and in fill().
  void open() {
    work_together(team_, act("opening"), [this] { source_ = open_source(choice_, options_, target_); });
    const std::string mine = source_.manifest ? source_.manifest->save_id : std::string();
    const std::vector<std::string> all = team_.gather(mine);
    // A shared file system may show one rank an older state.
    if (std::ranges::all_of(all, [&](const std::string& other) { return other == all.front(); })) return;
    throw DataError("[checkpoint] ranks see different saves in the same folder: ", printable(choice_.folder.native()));
  }

  /// Refuses a step that is whole and not of this run: an older one would be no better.
  void check() {
    work_together(team_, act("checking"), [this] {
      check_contents();
      if (is_finished_) return;
      if (!choice_.model_only) state_ = train_state();
      collect();
      check_names();
      checkpoint::require_fit(source_, wanted_parts(), rules());
      check_model();
    });
  }

  Loaded fill() {
    if (is_finished_) return {std::nullopt, choice_.step, true};
    // A step that turned out damaged may have left something in there.
    target_.optimizer.reset();
    checkpoint::ReadOptions how{.rules = rules()};
    how.progress = [this](std::uint64_t, std::uint64_t) {
      if (canceled_) throw PeerError("[checkpoint] reading was given up, a peer is lost");
    };
    work_together(
        team_, act("reading"), [&] { checkpoint::read_parts(source_, wanted_parts(), how); }, &canceled_);
    target_.tree.refresh_compute();
    if (tensors_.back().kind == StateKind::random) target_.tree.set_random_state(tensors_.back().values);
    warn_of_differences();
    log_info("checkpoint", "loaded ", printable(choice_.folder.native()), choice_.model_only ? ", the model alone" : "",
             ", in ", seconds_text(monotonic_seconds() - begin_));
    // Steps that are counted anew are another history.
    const bool begins_anew = state_ && options_.excluded.train_state;
    return {state_, begins_anew ? std::nullopt : choice_.step};
  }

 private:
  std::string act(const char* what) const { return concat(what, ' ', choice_.folder.filename().native()); }
  checkpoint::FitRules rules() const { return {.may_convert = choice_.model_only}; }

  std::vector<checkpoint::WantedPart> wanted_parts() {
    std::vector<checkpoint::WantedPart> parts;
    for (StateTensor& tensor : tensors_) parts.push_back(wanted(tensor));
    return parts;
  }

  void check_contents() {
    // A seed: step 0 of any contents begins a run.
    if (choice_.step == 0) choice_.model_only = true;
    if (source_.train_state || choice_.model_only) return;
    is_finished_ = choice_.step && options_.load_step < 0 && *choice_.step >= target_.last_step;
    if (!is_finished_) {
      throw DataError("[checkpoint] this step holds the model alone, training cannot go on from it: ",
                      printable(choice_.folder.native()), ": ", what_to_do_instead(),
                      "begin a new run with its weights in another folder: --checkpoint.initial_load_path ",
                      printable(choice_.folder.native()),
                      "; a run that is to be continued ends with all of it: --checkpoint.no_last_save_model_only");
    }
  }

  /// The newest step from which training can go on, if there is one.
  std::string what_to_do_instead() const {
    const fs::path folder = choice_.folder.parent_path();
    if (!choice_.step) return {};
    std::vector<std::int64_t> steps = checkpoint::committed_steps(folder);
    std::ranges::reverse(steps);
    for (const std::int64_t step : steps) {
      if (step > 0 && step != *choice_.step && can_go_on_from(folder / checkpoint::step_name(step))) {
        return concat("go on from an older one: --checkpoint.load_step ", step, ", or ");
      }
    }
    return "no other step there holds more; ";
  }

  bool can_go_on_from(const fs::path& step_folder) const {
    try {
      return open_source({.folder = step_folder, .step = {}}, options_, target_).train_state.has_value();
    } catch (const Error&) {
      return false;
    }
  }

  /// Another model may have tensors of the same shapes.
  void check_model() const {
    if (!source_.manifest || choice_.model_only || !choice_.step) return;
    std::vector<std::string> found = differences(source_.manifest->origin.config, target_.config);
    std::erase_if(found, [](const std::string& text) { return !text.starts_with("model."); });
    if (found.empty()) return;
    throw DataError("[checkpoint] the model is not the one that was saved: ", printable(choice_.folder.native()), ": ",
                    join(found, ", "),
                    ": give back the values, or begin a new run with its weights in another folder: ",
                    "--checkpoint.initial_load_path");
  }

  void collect() {
    const bool with_optimizer = !choice_.model_only && !options_.excluded.optimizer;
    tensors_ = state_tensors(target_.tree, with_optimizer ? &target_.optimizer : nullptr);
    if (choice_.model_only) leave_out_biases();
    if (choice_.model_only || !source_.manifest) return;
    // Layouts that differ draw other numbers anyway; ranks that drew alike go on alike.
    StateTensor random = random_state_tensor(target_.tree, team_.rank());
    random.tensor.name = random_state_name(team_.rank() % source_.manifest->origin.world_size);
    // A step that was converted from another trainer's has none.
    if (source_.tensors.contains(random.tensor.name)) tensors_.push_back(std::move(random));
  }

  /// A model from elsewhere may have no biases that balance experts: they begin with zeros, as in a fresh run.
  void leave_out_biases() {
    const std::size_t left_out = std::erase_if(tensors_, [this](const StateTensor& tensor) {
      return checkpoint::is_balancing_bias(tensor.tensor.name) && !source_.tensors.contains(tensor.tensor.name);
    });
    if (left_out == 0) return;
    log_info("checkpoint", "the checkpoint has no biases that balance experts, they begin with zeros: ", left_out);
  }

  /// Tensors that the run does not have: of the model they are an error, as they would be lost in the next save.
  void check_names() const {
    std::set<std::string, std::less<>> known;
    for (const StateTensor& tensor : tensors_) known.insert(tensor.tensor.name);
    for (const nn::Parameter* parameter : all_parameters(target_.tree)) known.insert(parameter->name);
    for (std::string& name : target_.tree.saved_buffer_names()) known.insert(std::move(name));
    std::vector<std::string> unexpected;
    for (const auto& [name, tensor] : source_.tensors) {
      if (checkpoint::is_generator_state(name) || known.contains(name)) continue;
      if (checkpoint::is_optimizer_state(name) && is_expected_of_optimizer(name, known)) continue;
      unexpected.push_back(name);
    }
    if (unexpected.empty()) return;
    throw DataError("[checkpoint] the checkpoint has tensors that this run has not: ",
                    printable(choice_.folder.native()), ": ", join_first(unexpected));
  }

  bool is_expected_of_optimizer(std::string_view name, const std::set<std::string, std::less<>>& known) const {
    if (choice_.model_only || options_.excluded.optimizer) return true;
    // Other pipeline stages hold the states of their parameters.
    constexpr std::string_view kPrefix = "optimizer.state.";
    const std::size_t dot = name.rfind('.');
    if (!name.starts_with(kPrefix) || dot < kPrefix.size()) return false;
    const std::string_view what = name.substr(dot + 1);
    const bool is_adams = what == "exp_avg" || what == "exp_avg_sq" || what == "step";
    return is_adams && known.contains(name.substr(kPrefix.size(), dot - kPrefix.size()));
  }

  void warn_of_differences() const {
    if (!source_.manifest || choice_.model_only || team_.rank() != 0) return;
    const checkpoint::Origin& origin = source_.manifest->origin;
    const std::vector<std::string> found = differences(origin.config, target_.config);
    if (!found.empty()) {
      log_warning("checkpoint", "the configuration is not the one that was saved: ", join(found, ", "));
    }
    for (const std::string& plugin : target_.plugins) {
      if (origin.plugins.empty() || std::ranges::find(origin.plugins, plugin) != origin.plugins.end()) continue;
      log_warning("checkpoint", "a plugin is not the one of the run that saved: ", printable(plugin));
    }
  }

  checkpoint::TrainState train_state() const {
    checkpoint::TrainState state = *source_.train_state;
    const checkpoint::Excluded& excluded = options_.excluded;
    if (excluded.train_state) state.step = state.num_tokens = 0;
    if (excluded.lr_scheduler) state.schedule_step = 0;
    if (excluded.dataloader) {
      state.dataloader.reset();
    } else if (!state.dataloader) {
      throw DataError(
          "[checkpoint] the checkpoint has no place in the data to go on from: ", printable(choice_.folder.native()),
          ": begin the data anew with --checkpoint.exclude_from_loading dataloader");
    }
    return state;
  }

  Team& team_;
  const Options& options_;
  LoadTarget& target_;
  Choice choice_;
  double begin_ = monotonic_seconds();
  Source source_;
  std::vector<StateTensor> tensors_;
  std::optional<checkpoint::TrainState> state_;  // none: the model alone is loaded
  bool is_finished_ = false;
  Canceled canceled_ = false;
};

/// Whether an older step may stand in for the one that failed: its content is bad, or not there. A disk that cannot be
/// read now may be read later.
bool is_damage(const Error& error) { return error.exit() == Exit::data || error.exit() == Exit::no_input; }

Loaded load_newest(Team& team, const Options& options, LoadTarget& target, const std::vector<std::int64_t>& steps) {
  for (std::size_t i = 0;; ++i) {
    Loading loading(team, options, target,
                    {options.folder / checkpoint::step_name(steps[i]), steps[i], /*model_only=*/false});
    const auto falls_back = [&](const Error& error) {
      if (options.load_step >= 0 || i + 1 == steps.size() || !is_damage(error)) return false;
      log_warning("checkpoint", error.what());
      log_warning("checkpoint", checkpoint::step_name(steps[i]), " cannot be loaded, falling back to ",
                  checkpoint::step_name(steps[i + 1]));
      return true;
    };
    try {
      loading.open();
    } catch (const Error& error) {
      if (!falls_back(error)) throw;
      continue;
    }
    loading.check();
    try {
      return loading.fill();
    } catch (const Error& error) {
      if (!falls_back(error)) throw;
    }
  }
}

}  // namespace

Loaded load_checkpoint(Team& team, const Options& options, LoadTarget& target) {
  const std::vector<std::int64_t> steps = agreed_steps(team, options);
  if (!steps.empty()) {
    if (options.initial_load_path) {
      log_info("checkpoint", "checkpoint.initial_load_path is ignored: ", printable(options.folder.native()),
               " has steps");
    }
    return load_newest(team, options, target, steps);
  }
  if (!options.initial_load_path) return {};
  Loading loading(team, options, target, {*options.initial_load_path, std::nullopt, options.initial_load_model_only});
  loading.open();
  loading.check();
  return loading.fill();
}

}  // namespace titan::train
