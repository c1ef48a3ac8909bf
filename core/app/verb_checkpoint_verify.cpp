#include <string>
#include <utility>
#include <vector>

#include "core/app/checkpoint/located.hpp"
#include "core/app/checkpoint/verification.hpp"
#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

/// Verdicts on the steps of a folder.
struct Judgement {
  std::size_t num_right = 0;
  std::vector<std::string> wrong;  // names
  bool are_all_unreadable = true;  // those that are wrong
};

Judgement judge_steps(const Located& located) {
  Judgement judgement;
  for (const LocatedStep& step : located.steps) {
    const std::string name = checkpoint::step_name(step.step);
    if (!step.format) {
      print(concat(name, ": left out: ", step.problem, "\n"));
      continue;
    }
    const Verification verification = verify_step(step);
    print(verification_text(name, verification));
    if (verification.findings.empty()) {
      ++judgement.num_right;
    } else {
      judgement.wrong.push_back(name);
      judgement.are_all_unreadable = judgement.are_all_unreadable && verification.is_unreadable;
    }
  }
  return judgement;
}

void verify_one(const Located& located, const std::string& word) {
  const Verification verification = verify_checkpoint(located.folder);
  print(verification_text(word, verification));
  if (verification.findings.empty()) return;
  if (verification.is_unreadable) throw IoError("[checkpoint] the checkpoint cannot be read: ", printable(word));
  throw DataError("[checkpoint] the checkpoint is damaged: ", printable(word));
}

void verify_steps(const Located& located, const std::string& word) {
  const Judgement judgement = judge_steps(located);
  if (judgement.num_right == 0 && judgement.wrong.empty()) {
    throw InputError("[checkpoint] there is no checkpoint in the steps of the folder: ", printable(word));
  }
  if (judgement.wrong.empty()) return;
  const std::string which = concat(judgement.wrong.size(), " of ", located.steps.size());
  const std::string names = concat(join(judgement.wrong, ", "), ", in ", printable(word));
  if (judgement.are_all_unreadable) throw IoError("[checkpoint] ", which, " steps cannot be read: ", names);
  throw DataError("[checkpoint] ", which, " steps are damaged: ", names);
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1)
    throw UsageError("[checkpoint] verify takes one folder: titan checkpoint verify PATH");
  const std::string& word = line.positionals.front();
  const Located located = locate(word);
  located.format ? verify_one(located, word) : verify_steps(located, word);
}

}  // namespace

AppVerb checkpoint_verify_verb() {
  return {
      {.name = "checkpoint verify",
       .summary = "Read a checkpoint, or every step of a folder, and compare each file with its hash; status 65 when "
                  "something is wrong, 74 when steps could not be opened because reading failed.",
       .flags = {help_flag()},
       .positionals = {"PATH"},
       .takes_options = false},
      &run};
}

}  // namespace titan::app
