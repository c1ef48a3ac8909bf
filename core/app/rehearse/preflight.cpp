#include "core/app/rehearse/preflight.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/app/rehearse/preflight_inputs.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/options.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;
using State = PreflightLine::State;

constexpr std::uint64_t kStatesOfAParameter = 2;  // Adam's means

std::uint64_t element_bytes(const std::string& dtype) {
  if (dtype == "float64") return 8;
  return dtype == "bfloat16" ? 2 : 4;
}

PreflightLine plugins_line(const Session& session) {
  PreflightLine line{"plugins", State::ok, {}};
  std::vector<std::string> names;
  for (const plugin::Plugin& plugin : session.plugins().plugins()) {
    names.push_back(concat(plugin.facts.name, ' ', plugin.facts.version, " (ABI ", plugin.facts.abi.major, '.',
                           plugin.facts.abi.minor, ')'));
  }
  line.detail = join(names, ", ");
  for (const plugin::BrokenPlugin& broken : session.plugins().broken()) {
    line.state = State::missing;
    line.detail += concat("; cannot be used: ", printable(broken.name), ": ", broken.error.what());
  }
  return line;
}

/// Free bytes where the folder is, or will be made.
std::optional<std::uint64_t> free_bytes(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  }
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) return std::nullopt;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

/// Checkpoints that lie there at a time: those that are kept, and the one that is being written.
std::uint64_t most_checkpoints(const config::Config& config, const checkpoint::Options& options) {
  const std::int64_t steps = std::max<std::int64_t>(1, config.integer("training.steps"));
  const std::int64_t saved = std::max<std::int64_t>(1, steps / options.interval);
  const std::int64_t kept = options.keep_latest_k == 0 ? saved : std::min(saved, options.keep_latest_k);
  return static_cast<std::uint64_t>(kept) + 1;
}

PreflightLine disk_line(const PreflightRun& run, const checkpoint::Options& options) {
  const std::uint64_t each = checkpoint_bytes(run.config, run.facts);
  const std::string size = concat("a checkpoint takes ", bytes_text(each));
  if (!options.saves()) return {"disk", State::none, concat("the run saves no checkpoint; ", size)};
  const std::uint64_t count = most_checkpoints(run.config, options);
  const auto free = free_bytes(options.folder);
  if (!free) return {"disk", State::missing, concat("cannot be looked at: ", printable(options.folder.native()))};
  const std::string sum = concat(count, " x ", bytes_text(each), " = ", bytes_text(count * each), ", ",
                                 bytes_text(*free), " are free at ", printable(options.folder.native()));
  return {"disk", count * each <= *free ? State::ok : State::missing, sum};
}

}  // namespace

std::string_view name(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::missing:
      return "missing";
    case State::none:
      return "n.a.";
  }
  return {};
}

std::uint64_t checkpoint_bytes(const config::Config& config, const titan_model_facts& facts) {
  const auto parameters = static_cast<std::uint64_t>(std::max<std::int64_t>(0, facts.num_parameters));
  return parameters * element_bytes(config.string("training.dtype")) * (1 + kStatesOfAParameter);
}

std::vector<PreflightLine> preflight(const Session& session, const PreflightRun& run) {
  const checkpoint::Options options = checkpoint::read_options(run.config, run.mesh.world_size());
  std::vector<PreflightLine> lines{{"options", State::ok, concat(run.config.entries().size(), " options, no problem")},
                                   {"layout", State::ok, run.mesh.describe()},
                                   {"step", State::ok, config::describe(run.sizes)},
                                   plugins_line(session),
                                   tokenizer_line(run.config),
                                   dataset_line(run.config, "dataset", "dataloader.dataset_path"),
                                   validation_line(run.config),
                                   checkpoint_line(session, run, options),
                                   disk_line(run, options)};
  return lines;
}

}  // namespace titan::app
