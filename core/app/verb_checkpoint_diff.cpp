#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/app/checkpoint/difference.hpp"
#include "core/app/checkpoint/located.hpp"
#include "core/app/checkpoint/model_of_checkpoint.hpp"
#include "core/app/checkpoint/progress.hpp"
#include "core/app/compare/runs_differ.hpp"
#include "core/app/output.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/number.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/model_tensors.hpp"

namespace titan::app {
namespace {

using checkpoint::Format;
using checkpoint::Source;

std::optional<double> tolerance_of(const config::CommandLine& line) {
  if (!line.has("tolerance")) return std::nullopt;
  const auto value = parse_number<double>(line.last("tolerance"));
  if (value && std::isfinite(*value) && *value >= 0) return value;
  throw UsageError("[checkpoint] --tolerance takes a finite number of at least 0: ",
                   printable(shortened(line.last("tolerance"), 100)));
}

/// Where one has the hub's names and the other ours, both get ours.
void meet_in_names(const Session& session, const config::Invocation& invocation, const config::Config& named, Source& a,
                   Source& b) {
  const bool a_is_hub = a.format == Format::hugging_face, b_is_hub = b.format == Format::hugging_face;
  if (a_is_hub == b_is_hub) return;
  const Source* const sources[] = {&a, &b};
  const std::vector<checkpoint::HubName> names = hub_names(session, model_of(session, invocation, named, sources));
  Source& hub = a_is_hub ? a : b;
  hub = checkpoint::translate(hub, names);
}

void keep_model(Source& source) {
  std::erase_if(source.tensors, [](const auto& tensor) { return !checkpoint::is_model_tensor(tensor.first); });
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Resolution resolution = session.resolve(*invocation.verb, invocation.words);
  const config::CommandLine& line = resolution.command_line;
  if (line.positionals.size() != 2) throw UsageError("[checkpoint] diff takes two folders: titan checkpoint diff A B");
  const std::optional<double> tolerance = tolerance_of(line);
  const std::string &a_word = line.positionals[0], &b_word = line.positionals[1];
  Source a = open_checkpoint(choose_checkpoint(a_word)), b = open_checkpoint(choose_checkpoint(b_word));
  meet_in_names(session, invocation, resolution.config, a, b);
  if (line.has("model-only")) {
    keep_model(a);
    keep_model(b);
  }
  Difference difference;
  {
    Progress progress("comparing");
    difference =
        compare_checkpoints(a, b, [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
  }
  print(difference_text(difference));
  if (!difference.is_equal(tolerance)) {
    throw RunsDiffer(concat("[checkpoint] the checkpoints differ: ", printable(a_word), ", ", printable(b_word), ": ",
                            difference_summary(difference, tolerance)));
  }
  print(concat(tolerance ? "equal within tolerance: " : "equal, bit for bit: ", difference.num_compared,
               difference.num_compared == 1 ? " tensor, " : " tensors, ", bytes_text(difference.num_bytes), "\n"));
}

}  // namespace

AppVerb checkpoint_diff_verb() {
  std::vector<config::Flag> flags = config::run_flags();
  flags.push_back({.name = "tolerance",
                   .metavar = "X",
                   .help =
                       "How far values may be apart, max|a-b| / max|b| of a tensor; dtypes may then differ. Default: "
                       "not at all, bit for bit."});
  flags.push_back({.name = "model-only", .metavar = {}, .help = "Leave the optimizer and generators out of it."});
  return {{.name = "checkpoint diff",
           .summary = "Compare two checkpoints tensor by tensor, of whatever formats; status 1 when they differ.",
           .flags = std::move(flags),
           .positionals = {"A", "B"}},
          &run};
}

}  // namespace titan::app
