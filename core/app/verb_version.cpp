#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/text.hpp"
#include "titan/abi/base.h"

namespace titan::app {
namespace {

void run(const Session& session, const config::Invocation& invocation) {
  session.read(*invocation.verb, invocation.words);
  print(concat("titan ", TITAN_VERSION, ", plugin ABI ", TITAN_ABI_MAJOR, ".", TITAN_ABI_MINOR, "\n"));
}

}  // namespace

AppVerb version_verb() {
  return {{.name = "version",
           .summary = "Show the version; so does --version.",
           .flags = plugin_flags(),
           .positionals = {},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
