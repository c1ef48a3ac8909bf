#include <filesystem>
#include <system_error>
#include <utility>

#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/report.hpp"

namespace titan::app {
namespace {

constexpr const char* kActions = "list, check FILE";

void list(const Session& session, bool as_json) {
  print(as_json ? plugin::list_json(session.plugins()) : plugin::list_text(session.plugins()));
}

void check(const std::string& file) {
  std::error_code failure;
  if (!std::filesystem::exists(file, failure)) {
    throw InputError("[plugin] ", failure ? "cannot look at the file, " + failure.message() : "no such file", ": ",
                     printable(file));
  }
  const plugin::CheckReport report = plugin::check(file, plugin::default_search());
  print(plugin::check_text(report));
  if (!report.passed()) throw AbiError("[plugin] the plugin failed its check: ", printable(file));
}

void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  const std::vector<std::string>& words = line.positionals;
  const std::string action = words.empty() ? "" : words.front();
  if (action == "list" && words.size() == 1) return list(session, line.has("json"));
  if (action == "check" && words.size() == 2 && !line.has("json")) return check(words.back());
  throw UsageError("[plugin] expected one of: ", kActions, ": got: ", printable(join(invocation.words, " ")));
}

}  // namespace

AppVerb plugin_verb() {
  std::vector<config::Flag> flags = plugin_flags();
  flags.push_back({.name = "json", .metavar = {}, .help = "List as JSON, for scripts."});
  return {{.name = "plugin",
           .summary = "List the plugins there are, or check that a plugin file keeps the contract.",
           .flags = std::move(flags),
           .positionals = {"list|check", "[FILE]"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
