#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "core/app/check_before_start.hpp"
#include "core/app/folder_lock.hpp"
#include "core/app/output.hpp"
#include "core/app/run_folder.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/signals.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/quit.hpp"
#include "core/checkpoint/options.hpp"
#include "core/config/help.hpp"
#include "core/config/mesh.hpp"
#include "core/config/sizes.hpp"
#include "core/launch/launch_options.hpp"
#include "core/launch/launcher.hpp"

namespace titan::app {
namespace {

constexpr const char* kRunVerb = "train";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

launch::LaunchOptions read_options(const Session& session, const config::Invocation& invocation) {
  config::Problems problems;
  const config::CommandLine line =
      config::read_command_line(session.registry(), *invocation.verb, {}, invocation.words, problems);
  if (!problems.empty() && line.rest.empty()) {
    problems.add_usage(
        "what the ranks are to do comes after --: titan launch --nproc-per-node 2 -- train --module ...");
  }
  problems.throw_if_any();
  return launch::read_launch_options(line, &variable);
}

/// Answers words that ask for help in place of the ranks, each of which would.
bool print_help(const Session& session, const config::Words& command) {
  const config::Invocation run = config::split_verb(session.registry(), command, kRunVerb);
  const auto pattern = config::help_pattern(run.words);
  if (pattern) print(config::render_help(session.registry(), {.verb = run.verb, .pattern = *pattern}));
  return pattern.has_value();
}

std::filesystem::path own_program() { return std::filesystem::canonical("/proc/self/exe"); }

/// What the ranks would refuse is refused here, once and before there is any.
config::Config check_run(const Session& session, const launch::LaunchOptions& options) {
  const config::Invocation run = config::split_verb(session.registry(), options.command, kRunVerb);
  if (run.verb->name != kRunVerb) {
    throw UsageError("[launch] only the verb ", kRunVerb, " is for several ranks: ", run.verb->name);
  }
  config::Config config = session.resolve(*run.verb, run.words).config;
  check_selection(session, config);
  const config::Mesh mesh = config::Mesh::from(config, options.world_size());
  log_info("launch", "mesh: ", mesh.describe());
  config::plan_sizes(config, mesh);
  checkpoint::check_before_start(config, mesh.world_size());
  if (mesh.world_size() > 1) check_before_start(own_program(), run.words, mesh.world_size());
  return config;
}

void check_end(const launch::JobEnd& end) {
  if (end.verdict.status == 0) return;
  if (end.verdict.is_quit) throw Quit(end.message);
  const Exit status{end.verdict.status};
  if (end.verdict.stop_signal == 0) throw Error(status, end.message);
  if (status != Exit::stopped) throw Interrupted(end.verdict.stop_signal);
  throw Error(status, "[launch] stopped on request");
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  launch::Job job;
  job.options = read_options(session, invocation);
  if (print_help(session, job.options.command)) return;
  const config::Config config = check_run(session, job.options);
  stop_flag().check();

  const std::filesystem::path dump_folder = make_dump_folder(config);
  // One machine locks for all: they may share the folder.
  const RunLocks locks = job.options.node_rank == 0 ? lock_run_folders(config) : RunLocks();
  announce_locked_folder();
  job.program = own_program();
  job.arguments = job.options.command;
  job.log_folder = job.options.log_folder.value_or(dump_folder / "logs");
  job.report_folder = dump_folder / "errors";
  // The option of a plugin, which a run may leave out.
  constexpr const char* kTraces = "comm.save_traces_folder";
  if (session.registry().find(kTraces) != nullptr) job.traces_folder = dump_folder / config.string(kTraces);
  log_info("launch", "this is process ", ::getpid(), "; to see where each rank is: kill -USR2 ", ::getpid());
  check_end(launch::run_job(job, stop_flag()));
}

}  // namespace

AppVerb launch_verb() {
  std::vector<config::Flag> flags = launch::launch_flags();
  flags.push_back(help_flag());
  return {{.name = "launch",
           .summary = "Run several ranks of one training on this node, as torchrun does: titan launch "
                      "--nproc-per-node 4 -- train --module llama3 --config llama3_debugmodel.",
           .flags = std::move(flags),
           .positionals = {},
           .takes_options = false,
           .rest = "[train] RUN..."},
          &run};
}

}  // namespace titan::app
