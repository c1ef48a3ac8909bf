#include "core/app/checkpoint/model_of_checkpoint.hpp"

#include <algorithm>
#include <filesystem>

#include "core/app/required_interface.hpp"
#include "core/base/error.hpp"
#include "core/checkpoint/hub/model_names.hpp"
#include "core/checkpoint/saved_config.hpp"

namespace titan::app {
namespace {

using checkpoint::Source;

/// The words, with the hub's file as their configuration.
config::Config config_of_hub(const Session& session, const config::Invocation& invocation, const config::Config& named,
                             const Source& hub) {
  const std::string file = (hub.folder / "config.json").native();
  if (named.module().empty()) {
    throw UsageError("[checkpoint] which model plugin is this one for? Name it with --module: ",
                     join(session.registry().modules(), ", "), ": ", printable(file));
  }
  config::Words words = invocation.words;
  words.insert(words.begin(), concat("--config=", file));
  return session.resolve(*invocation.verb, words).config;
}

const config::Config& with_module(const Session& session, const config::Config& named) {
  if (!named.module().empty()) return named;
  throw UsageError("[checkpoint] --config needs a model plugin, name it with --module: ",
                   join(session.registry().modules(), ", "));
}

}  // namespace

config::Config model_of(const Session& session, const config::Invocation& invocation, const config::Config& named,
                        std::span<const Source* const> sources) {
  if (!named.config_name().empty()) return with_module(session, named);
  for (const Source* source : sources) {
    if (!source->manifest || source->manifest->origin.module.empty()) continue;
    session.plugins().find_model(source->manifest->origin.module);
    return checkpoint::model_config(session.registry(), source->manifest->origin,
                                    (source->folder / checkpoint::kManifestFile).native());
  }
  for (const Source* source : sources) {
    std::error_code ignored;
    const bool has_config = std::filesystem::is_regular_file(source->folder / "config.json", ignored);
    if (source->format == checkpoint::Format::hugging_face && has_config) {
      return config_of_hub(session, invocation, named, *source);
    }
  }
  if (!named.module().empty()) return named;
  throw UsageError(
      "[checkpoint] which model is this? Nothing in the folder says so: name it with --module and --config: ",
      printable(sources.front()->folder.native()));
}

std::vector<checkpoint::HubName> hub_names(const Session& session, const config::Config& config) {
  const plugin::Plugin& plugin = session.plugins().find_model(config.module());
  const auto instance = session.plugins().load(plugin, {.config = &config});
  return checkpoint::hub_names_of(instance->host(), required_interface<titan_model_v1>(*instance, TITAN_MODEL_V1));
}

Source in_our_names(const Source& hub, std::span<const checkpoint::HubName> names) {
  Source ours = checkpoint::translate(hub, names);
  checkpoint::require_names(ours, names);
  return ours;
}

}  // namespace titan::app
