#include <string>

#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/help.hpp"

namespace titan::app {
namespace {

/// `titan help`, `titan help config` and `titan help compare layouts` for a verb, `titan help training` for options,
/// `titan help checkpoint` for verbs that begin so and options.
void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  const std::string words = join(line.positionals, " ");
  config::HelpRequest request;
  if (!words.empty()) request.verb = session.registry().find_verb(words);
  if (request.verb == nullptr) {
    if (line.positionals.size() > 1)
      throw UsageError("[help] no verb has this name: ", printable(shortened(words, 100)));
    request.pattern = words;
    if (!words.empty() && !session.registry().second_words(words).empty()) request.group = words;
  }
  print(config::render_help(session.registry(), request));
}

}  // namespace

AppVerb help_verb() {
  return {{.name = "help",
           .summary = "Show a verb, or the options whose name matches a pattern, or everything.",
           .flags = plugin_flags(),
           .positionals = {"[VERB|PATTERN]", "[WORD]"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
