#include <string>
#include <utility>
#include <vector>

#include "core/app/checkpoint/inspect_report.hpp"
#include "core/app/checkpoint/located.hpp"
#include "core/app/checkpoint/progress.hpp"
#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kMostFindings = 100;

/// What is wrong with a checkpoint, one line each, and what was looked at.
struct Verification {
  std::vector<std::string> findings;
  std::string checked;
};

/// What a checkpoint without a finding was checked for.
std::string scope(const checkpoint::Source& source) {
  const std::size_t files = source.manifest ? source.manifest->files.size() : source.files.size();
  return concat(files, files == 1 ? " file, " : " files, ", bytes_text(bytes_of_files(source)),
                source.manifest ? ", every hash"
                                : concat(", the structure: there are no hashes in ", format_name(source.format)));
}

Verification verify(const std::filesystem::path& folder) {
  Verification verification;
  try {
    const checkpoint::Source source = open_checkpoint(folder);
    Progress progress(concat("verifying ", printable(folder.filename().native())));
    verification.findings =
        checkpoint::verify(source, [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
    verification.checked = scope(source);
  } catch (const Error& error) {
    if (error.exit() != Exit::data && error.exit() != Exit::no_input) throw;
    verification.findings = {error.what()};
  }
  return verification;
}

std::string report(const std::string& name, const Verification& verification) {
  if (verification.findings.empty()) return concat(printable(name), ": right: ", verification.checked, "\n");
  std::string text = concat(printable(name), ": wrong\n");
  std::size_t shown = 0;
  for (const std::string& finding : verification.findings) {
    if (shown++ == kMostFindings)
      return concat(text, "  and ", verification.findings.size() - kMostFindings, " more\n");
    text += concat("  ", printable(finding), "\n");
  }
  return text;
}

/// Prints the verdict and says whether all is right.
bool judge(const std::filesystem::path& folder, const std::string& name) {
  const Verification verification = verify(folder);
  print(report(name, verification));
  return verification.findings.empty();
}

/// Names of the wrong ones.
std::vector<std::string> judge_steps(const Located& located) {
  std::vector<std::string> wrong;
  for (const LocatedStep& step : located.steps) {
    const std::string name = checkpoint::step_name(step.step);
    if (!step.format) {
      print(concat(name, ": left out: ", step.problem, "\n"));
    } else if (!step.problem.empty()) {
      print(report(name, {{step.problem}, {}}));
      wrong.push_back(name);
    } else if (!judge(step.folder, name)) {
      wrong.push_back(name);
    }
  }
  return wrong;
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1)
    throw UsageError("[checkpoint] verify takes one folder: titan checkpoint verify PATH");
  const std::string& word = line.positionals.front();
  const Located located = locate(word);
  if (located.format) {
    if (!judge(located.folder, word)) throw DataError("[checkpoint] the checkpoint is wrong: ", printable(word));
    return;
  }
  const std::vector<std::string> wrong = judge_steps(located);
  if (wrong.empty()) return;
  throw DataError("[checkpoint] ", wrong.size(), " of ", located.steps.size(), " steps are wrong: ", join(wrong, ", "),
                  ", in ", printable(word));
}

}  // namespace

AppVerb checkpoint_verify_verb() {
  return {
      {.name = "checkpoint verify",
       .summary = "Read a checkpoint, or every step of a folder, and compare each file with its hash; status 65 when "
                  "something is wrong.",
       .flags = {help_flag()},
       .positionals = {"PATH"},
       .takes_options = false},
      &run};
}

}  // namespace titan::app
