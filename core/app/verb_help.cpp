#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/config/help.hpp"

namespace titan::app {
namespace {

/// `titan help`, `titan help config` for a verb, `titan help training` for options.
void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  config::HelpRequest request;
  if (!line.positionals.empty()) {
    request.verb = session.registry().find_verb(line.positionals.front());
    if (request.verb == nullptr) request.pattern = line.positionals.front();
  }
  print(config::render_help(session.registry(), request));
}

}  // namespace

AppVerb help_verb() {
  return {{.name = "help",
           .summary = "Show a verb, or the options whose name matches a pattern, or everything.",
           .flags = plugin_flags(),
           .positionals = {"[VERB|PATTERN]"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
