#include <utility>

#include "core/app/missing_inputs.hpp"
#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/config/print.hpp"
#include "core/config/schema.hpp"

namespace titan::app {
namespace {

void run(const Session& session, const config::Invocation& invocation) {
  const config::Resolution resolution = session.resolve(*invocation.verb, invocation.words);
  if (resolution.command_line.has("schema")) return print(config::render_schema(session.registry()));
  warn_of_missing_inputs(resolution.config);
  print(config::render_toml(resolution.config));
}

}  // namespace

AppVerb config_verb() {
  std::vector<config::Flag> flags = config::run_flags();
  flags.push_back(
      {.name = "schema", .metavar = {}, .help = "Print the JSON Schema of configuration files, for editors."});
  return {{.name = "config",
           .summary = "Print the configuration that training would get, with the origin of every value.",
           .flags = std::move(flags),
           .positionals = {}},
          &run};
}

}  // namespace titan::app
