#include <utility>

#include "core/app/checkpoint/inspect_report.hpp"
#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"

namespace titan::app {
namespace {

void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1)
    throw UsageError("[checkpoint] inspect takes one folder: titan checkpoint inspect PATH");
  const bool with_tensors = line.has("tensors"), as_json = line.has("json");
  const Located located = locate(line.positionals.front());
  if (!located.format && with_tensors) {
    throw UsageError("[checkpoint] --tensors is for one checkpoint, and the folder holds steps: ",
                     printable(located.folder.native()));
  }
  if (!located.format) return print(as_json ? inspect_json(located) : inspect_text(located));
  const checkpoint::Source source = open_checkpoint(located.folder);
  print(as_json ? inspect_json(source, with_tensors) : inspect_text(source, with_tensors));
}

}  // namespace

AppVerb checkpoint_inspect_verb() {
  std::vector<config::Flag> flags{
      {.name = "tensors", .metavar = {}, .help = "List every tensor: dtype, shape, size, parts."},
      {.name = "json", .metavar = {}, .help = "Print one JSON object, sizes in bytes."}};
  flags.push_back(help_flag());
  return {
      {.name = "checkpoint inspect",
       .summary = "Show what a checkpoint holds, or which steps a folder has. Reads titan's own format, Hugging Face "
                  "safetensors and PyTorch DCP; no tensor is read.",
       .flags = std::move(flags),
       .positionals = {"PATH"},
       .takes_options = false},
      &run};
}

}  // namespace titan::app
