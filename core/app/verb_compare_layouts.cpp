#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/app/check_layout.hpp"
#include "core/app/compare/layouts_report.hpp"
#include "core/app/compare/runs_differ.hpp"
#include "core/app/engine_library.hpp"
#include "core/app/layout_rank.hpp"
#include "core/app/output.hpp"
#include "core/app/run_selection.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/number.hpp"
#include "core/config/layouts.hpp"
#include "core/config/sizes.hpp"

namespace titan::app {
namespace {

constexpr const char* kRunVerb = "train";
constexpr std::int64_t kMostRanks = 64;  // each is a thread with a model of its own
constexpr std::int64_t kMostSteps = 1'000'000;

std::int64_t whole_number(const config::CommandLine& line, const char* flag, const char* otherwise, std::int64_t most) {
  const std::string text = line.last(flag, otherwise);
  const auto number = parse_number<std::int64_t>(text);
  if (number && *number >= 1 && *number <= most) return *number;
  throw UsageError("[compare] --", flag, " takes a number from 1 to ", most, ": ", printable(shortened(text, 100)));
}

/// One dtype for everything, or what the configuration says.
config::Words dtype_words(const std::string& dtype) {
  if (dtype == "configured") return {};
  if (dtype != "float64" && dtype != "float32") {
    throw UsageError("[compare] --dtype must be float64, float32 or configured: ", printable(shortened(dtype, 100)));
  }
  return {"--training.dtype=" + dtype, "--training.mixed_precision_param=" + dtype,
          "--training.mixed_precision_reduce=" + dtype};
}

/// The run's words, and what a comparison needs: one precision, one seed for both, nothing beside the steps.
config::Words layout_words(const config::Words& run, const std::string& dtype, bool has_seed) {
  config::Words words = run;
  for (std::string& word : dtype_words(dtype)) words.push_back(std::move(word));
  words.insert(words.end(), {"--validator.enable=false", "--debug.replica_audit_freq=0"});
  if (!has_seed) words.push_back("--debug.seed=0");
  return words;
}

/// One rank that takes the same rows a step, as many at a time.
config::Words reference_words(config::Words words, const config::Config& layout, const config::Mesh& mesh) {
  for (const char* axis :
       {"pipeline", "data_parallel_replicate", "data_parallel_shard", "context", "tensor", "expert"}) {
    const bool is_data = std::string_view(axis).starts_with("data");
    words.push_back(concat("--parallelism.", axis, is_data ? "_degree=1" : "_parallel_degree=1"));
  }
  const std::int64_t data_ranks = mesh.degree(config::Axis::dp_replicate) * mesh.degree(config::Axis::dp_shard);
  words.push_back("--parallelism.num_pp_microbatches=1");
  words.push_back(
      concat("--training.num_tokens_per_train_step=", config::plan_sizes(layout, mesh).tokens_per_step() * data_ranks));
  return words;
}

double tolerance(const config::CommandLine& line, double otherwise) {
  if (!line.has("tolerance")) return otherwise;
  const auto value = parse_number<double>(line.last("tolerance"));
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  throw UsageError("[compare] --tolerance takes a finite number of at least 0: ",
                   printable(shortened(line.last("tolerance"), 100)));
}

/// Rounding of each precision, and what AdamW makes of it.
void set_tolerances(const config::CommandLine& line, const std::string& storage, const std::string& compute,
                    LayoutsRequest& request) {
  const bool is_double = storage == "float64" && compute == "float64";
  const bool is_single = compute == "float32" || compute == "float64";
  request.gradient_tolerance = tolerance(line, is_double ? 1e-9 : is_single ? 1e-5 : 5e-2);
  request.weight_tolerance = tolerance(line, is_double ? 1e-9 : is_single ? 1e-4 : 5e-2);
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.rest.empty()) {
    throw UsageError("[compare] the layout to be looked at comes after --: titan compare layouts --world-size 2 -- ",
                     "--module llama3 --config llama3_parity --parallelism.tensor_parallel_degree 2");
  }
  const config::Invocation train = config::split_verb(session.registry(), line.rest, kRunVerb);
  if (train.verb->name != kRunVerb) {
    throw UsageError("[compare] a layout is one of the verb ", kRunVerb, ": ", train.verb->name);
  }
  const std::int64_t world_size = whole_number(line, "world-size", "2", kMostRanks);
  const std::string dtype = line.last("dtype", "float64");

  const config::Config asked = session.resolve(*train.verb, train.words).config;
  check_selection(session, asked);
  const config::Words words = layout_words(train.words, dtype, asked.optional_integer("debug.seed").has_value());
  const config::Config layout = session.resolve(*train.verb, words).config;
  const config::Mesh mesh = config::Mesh::from(layout, world_size);
  // The reference takes its whole time first: what no layout can be is refused before it.
  check_layout(session, layout, mesh);
  const config::Config reference = session.resolve(*train.verb, reference_words(words, layout, mesh)).config;

  const Engine& engine = open_engine(engine_path());
  LayoutsRequest request;
  request.mesh = mesh;
  request.steps = whole_number(line, "steps", "1", kMostSteps);
  request.make_rank = [&](bool is_reference, std::int64_t rank) {
    return is_reference ? make_layout_rank(session, engine, {&reference, config::Mesh(), 0})
                        : make_layout_rank(session, engine, {&layout, mesh, rank});
  };
  set_tolerances(line, layout.string("training.dtype"), layout.string("training.mixed_precision_param"), request);
  const LayoutsReport report = engine.compare_layouts(request);
  print(line.has("json") ? layouts_json(report) : layouts_report(report));
  if (const std::string verdict = layouts_verdict(report); !verdict.empty()) throw RunsDiffer(verdict);
}

}  // namespace

AppVerb compare_layouts_verb() {
  std::vector<config::Flag> flags{
      {.name = "world-size", .metavar = "N", .help = "Ranks of the layout, threads of this process. Default: 2."},
      {.name = "steps", .metavar = "N", .help = "Steps to take; gradients are those of the first. Default: 1."},
      {.name = "dtype",
       .metavar = "NAME",
       .help = "Precision of everything: float64 (default: rounding hides nothing), float32, or configured."},
      {.name = "tolerance",
       .metavar = "X",
       .help = "How far gradients and weights may be apart, max|a-b| / max|b| of a parameter. Default: 1e-9 in "
               "float64, 1e-5 and 1e-4 in float32, 0.05 in what is coarser."},
      {.name = "json", .metavar = {}, .help = "Print one JSON object."}};
  flags.push_back(help_flag());
  return {{.name = "compare layouts",
           .summary = "Compare a layout with one rank on the same batches, parameter by parameter; status 1 when they "
                      "differ: titan compare layouts --world-size 2 -- --module llama3 --config llama3_parity.",
           .flags = std::move(flags),
           .positionals = {},
           .takes_options = false,
           .rest = "[train] RUN..."},
          &run};
}

}  // namespace titan::app
