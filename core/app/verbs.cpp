#include "core/app/verbs.hpp"

#include <utility>

#include "core/app/output.hpp"
#include "core/app/signals.hpp"
#include "core/base/error.hpp"
#include "core/config/help.hpp"

namespace titan::app {
namespace {

constexpr const char* kDefaultVerb = "train";

std::vector<AppVerb> all_verbs() {
  return {train_verb(),
          config_verb(),
          plugin_verb(),
          compare_verb(),
          compare_layouts_verb(),
          launch_verb(),
          schedule_verb(),
          rehearse_verb(),
          checkpoint_inspect_verb(),
          checkpoint_verify_verb(),
          checkpoint_convert_verb(),
          checkpoint_diff_verb(),
          trace_analyse_verb(),
          trace_memory_verb(),
          report_verb(),
          check_verb(),
          help_verb(),
          version_verb()};
}

const AppVerb& find(const std::vector<AppVerb>& verbs, const config::Verb& declaration) {
  for (const AppVerb& verb : verbs) {
    if (verb.declaration.name == declaration.name) return verb;
  }
  throw InternalError("a verb is in the registry only: ", declaration.name);
}

/// The words that name plugins: those of the run, which a verb that runs others has after "--".
config::Words run_words(const config::Invocation& invocation) {
  return invocation.verb->rest.empty() ? invocation.words : config::words_after_dashes(invocation.words);
}

/// `titan checkpoint --help`: the word is no verb, its verbs have two.
bool print_help_of_group(const config::Registry& registry, const config::Words& words) {
  if (words.size() < 2 || words.front().starts_with('-') || registry.second_words(words.front()).empty()) return false;
  const config::Words rest(words.begin() + 1, words.end());
  const auto pattern = config::help_pattern(rest);
  if (!rest.front().starts_with('-') || !pattern) return false;
  print(config::render_help(registry, {.pattern = *pattern, .group = words.front()}));
  return true;
}

}  // namespace

std::vector<config::Flag> plugin_flags() {
  std::vector<config::Flag> flags = config::run_flags();
  std::erase_if(flags, [](const config::Flag& flag) { return flag.name != "plugin" && flag.name != "help"; });
  return flags;
}

config::Flag help_flag() {
  std::vector<config::Flag> flags = plugin_flags();
  std::erase_if(flags, [](const config::Flag& flag) { return flag.name != "help"; });
  TITAN_CHECK(flags.size() == 1, "flags of the name help: ", flags.size());
  return std::move(flags.front());
}

void run_command_line(config::Words words) {
  const bool bare_help = !words.empty() && (words.front() == "-h" || words.front().starts_with("--help"));
  if (!words.empty() && words.front() == "--version") words.front() = "version";
  if (words.size() > 1 && words[0] == "trace" && words[1] == "analyze") words[1] = "analyse";

  const std::vector<AppVerb> verbs = all_verbs();
  config::Registry registry;
  for (const AppVerb& verb : verbs) registry.add(verb.declaration);
  if (print_help_of_group(registry, words)) return;
  const config::Invocation invocation = config::split_verb(registry, words, bare_help ? "help" : kDefaultVerb);
  const AppVerb& verb = find(verbs, *invocation.verb);

  const Session session(std::move(registry), run_words(invocation));
  stop_flag().check();
  if (const auto pattern = config::help_pattern(invocation.words); pattern) {
    print(config::render_help(session.registry(),
                              {.verb = bare_help ? nullptr : &verb.declaration, .pattern = *pattern}));
    return;
  }
  verb.run(session, invocation);
}

}  // namespace titan::app
