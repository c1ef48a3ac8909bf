#pragma once

#include <vector>

#include "core/app/session.hpp"
#include "core/config/cli_reader.hpp"

namespace titan::app {

/// A verb and what it does with the words after it. Errors are exceptions; coming back is success.
struct AppVerb {
  config::Verb declaration;
  void (*run)(const Session& session, const config::Invocation& invocation);
};

AppVerb train_verb();
AppVerb config_verb();
AppVerb plugin_verb();
AppVerb compare_verb();
AppVerb compare_layouts_verb();
AppVerb launch_verb();
AppVerb check_verb();
AppVerb schedule_verb();
AppVerb rehearse_verb();
AppVerb checkpoint_inspect_verb();
AppVerb checkpoint_verify_verb();
AppVerb checkpoint_convert_verb();
AppVerb checkpoint_diff_verb();
AppVerb trace_analyse_verb();
AppVerb trace_memory_verb();
AppVerb report_verb();
AppVerb help_verb();
AppVerb version_verb();

/// --plugin and --help: the flags of verbs that look at plugins and resolve no configuration.
std::vector<config::Flag> plugin_flags();

/// --help alone: the flag of verbs that take a run's words after "--", --plugin among them.
config::Flag help_flag();

/// Runs the command line, without the program's name: the verb that its first word names, or `train`.
void run_command_line(config::Words words);

}  // namespace titan::app
