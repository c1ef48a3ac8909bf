#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>

#include "core/app/checkpoint/located.hpp"
#include "core/app/checkpoint/model_of_checkpoint.hpp"
#include "core/app/rehearse/preflight_inputs.hpp"
#include "core/app/rehearse/rehearsal_names.hpp"
#include "core/base/error.hpp"
#include "core/base/listing.hpp"
#include "core/checkpoint/model_tensors.hpp"
#include "core/checkpoint/saved_config.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;
using State = PreflightLine::State;

constexpr const char* kWhat = "checkpoint";

/// What the run would load: the step that is asked for, or the newest one, else initial_load_path.
std::optional<fs::path> folder_to_load(const checkpoint::Options& options) {
  const std::vector<std::int64_t> steps = checkpoint::committed_steps(options.folder);
  if (options.load_step >= 0) {
    if (std::ranges::find(steps, options.load_step) == steps.end()) {
      throw InputError("there is no such step: checkpoint.load_step ", options.load_step, " in ",
                       printable(options.folder.native()));
    }
    return options.folder / checkpoint::step_name(options.load_step);
  }
  if (!steps.empty()) return options.folder / checkpoint::step_name(steps.back());
  return options.initial_load_path;
}

std::size_t num_model_tensors(const checkpoint::Source& source) {
  return static_cast<std::size_t>(std::ranges::count_if(
      source.tensors, [](const auto& tensor) { return checkpoint::is_model_tensor(tensor.first); }));
}

/// Options of the model that are others than those of the run that saved.
std::vector<std::string> other_model(const checkpoint::Source& source, const config::Config& config) {
  std::vector<std::string> found;
  if (!source.manifest) return found;
  const std::map<std::string, std::string> here = checkpoint::saved_config(config);
  for (const auto& [name, value] : source.manifest->origin.config) {
    const auto own = here.find(name);
    if (!name.starts_with("model.") || own == here.end() || own->second == value) continue;
    found.push_back(concat(name, ' ', printable(value), " there, ", printable(own->second), " here"));
  }
  return found;
}

PreflightLine judge(const Session& session, const PreflightRun& run, const fs::path& folder) {
  checkpoint::Source source = open_checkpoint(folder);
  const std::vector<checkpoint::HubName> names = hub_names(session, run.config);
  if (source.format == checkpoint::Format::hugging_face) source = checkpoint::translate(source, names);
  checkpoint::require_names(source, names);
  if (const std::vector<std::string> other = other_model(source, run.config); !other.empty()) {
    return {kWhat, State::missing,
            concat("is of another model: ", printable(folder.native()), ": ", join_first(other))};
  }
  return {kWhat, State::ok,
          concat(format_name(source.format), ", ", num_model_tensors(source),
                 " tensors of the model: ", printable(folder.native()))};
}

}  // namespace

PreflightLine checkpoint_line(const Session& session, const PreflightRun& run, const checkpoint::Options& options) {
  if (!options.enable) return {kWhat, State::none, "checkpoints are off: the run begins at step 0"};
  try {
    checkpoint::check_folders(options);
    const std::optional<fs::path> folder = folder_to_load(options);
    if (!folder) return {kWhat, State::none, "there is none yet: the run begins at step 0"};
    return judge(session, run, *folder);
  } catch (const Error& error) {
    return {kWhat, State::missing, std::string(without_tag(error.what()))};
  }
}

}  // namespace titan::app
