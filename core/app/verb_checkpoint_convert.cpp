#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/app/checkpoint/conversion.hpp"
#include "core/app/checkpoint/located.hpp"
#include "core/app/checkpoint/model_of_checkpoint.hpp"
#include "core/app/output.hpp"
#include "core/app/signals.hpp"
#include "core/app/verbs.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/saved_config.hpp"

namespace titan::app {
namespace {

using checkpoint::Format;
using checkpoint::Source;

Format target_format(const config::CommandLine& line) {
  const std::string name = line.last("to");
  for (const Format format : {Format::titan, Format::hugging_face, Format::dcp}) {
    if (name == format_name(format)) return format;
  }
  throw UsageError("[checkpoint] --to takes titan, hugging_face or dcp: ",
                   name.empty() ? "nothing" : printable(shortened(name, 100)));
}

std::optional<checkpoint::DType> target_dtype(const config::CommandLine& line) {
  if (!line.has("dtype")) return std::nullopt;
  const auto dtype = checkpoint::dtype_of_torch(line.last("dtype"));
  if (dtype && checkpoint::is_floating(*dtype)) return dtype;
  throw UsageError("[checkpoint] --dtype takes float32, bfloat16, float16 or float64: ",
                   printable(shortened(line.last("dtype"), 100)));
}

/// Names that are the same on both sides.
std::vector<checkpoint::HubName> own_names(const Source& hub) {
  std::vector<checkpoint::HubName> names;
  for (const auto& [name, tensor] : hub.tensors) names.push_back({name, name});
  return names;
}

/// What a titan step tells of its model, when the source does not.
checkpoint::Origin origin_of(const config::Config& config) {
  checkpoint::Origin origin;
  origin.module = config.module();
  origin.preset = config.config_name();
  origin.config = checkpoint::saved_config(config);
  std::erase_if(origin.config, [](const auto& option) { return !config::is_model_option(option.first); });
  return origin;
}

/// Brings the source to the names that the target needs, and converts it.
void convert_named(const Session& session, const config::Invocation& invocation, const config::Config& named,
                   Source source, Conversion conversion) {
  const bool from_hub = source.format == Format::hugging_face, to_hub = conversion.format == Format::hugging_face;
  std::vector<checkpoint::HubName> names;
  if (from_hub && to_hub) {
    names = own_names(source);
  } else if (from_hub || to_hub) {
    const Source* const sources[] = {&source};
    const config::Config config = model_of(session, invocation, named, sources);
    names = hub_names(session, config);
    if (!source.manifest) conversion.origin = origin_of(config);
    if (from_hub) source = in_our_names(source, names);
  } else if (!source.manifest && !named.config_name().empty()) {
    conversion.origin = origin_of(named);
  }
  conversion.names = names;
  convert(source, conversion);
}

void run(const Session& session, const config::Invocation& invocation) {
  start_spdlog();
  const config::Resolution resolution = session.resolve(*invocation.verb, invocation.words);
  const config::CommandLine& line = resolution.command_line;
  if (line.positionals.size() != 2) {
    throw UsageError("[checkpoint] convert takes two folders: titan checkpoint convert FROM TO --to hugging_face");
  }
  if (line.positionals[1].empty()) throw UsageError("[checkpoint] convert needs a name for TO: it is empty");
  const double begin = monotonic_seconds();
  const Conversion conversion{folder_of(line.positionals[1]), target_format(line), target_dtype(line), {}, {}};
  const std::filesystem::path from = choose_checkpoint(line.positionals[0]);
  Source source = open_checkpoint(from);
  const std::string described = concat(printable(from.native()), " (", format_name(source.format), ")");
  begin_work();  // a stop waits for what has been written to be removed
  convert_named(session, invocation, resolution.config, std::move(source), conversion);
  print(concat("converted ", described, " to ", printable(line.positionals[1]), " (", format_name(conversion.format),
               ") in ", seconds_text(monotonic_seconds() - begin), "\n"));
  if (conversion.format == Format::hugging_face) {
    print("config.json and the tokenizer's files are no part of a checkpoint: put the model's beside it\n");
  }
}

}  // namespace

AppVerb checkpoint_convert_verb() {
  std::vector<config::Flag> flags = config::run_flags();
  flags.push_back({.name = "to",
                   .metavar = "FORMAT",
                   .help = "The form to write, which must be given: titan, hugging_face or dcp."});
  flags.push_back({.name = "dtype",
                   .metavar = "NAME",
                   .help =
                       "Write the model alone, its floating-point tensors as float32, bfloat16, float16 or float64. "
                       "Default: everything as it is."});
  return {
      {.name = "checkpoint convert",
       .summary = "Write a checkpoint in another form: titan checkpoint convert outputs/checkpoint model --to "
                  "hugging_face. The manifest says which model it is; where there is none, --module and --config do, "
                  "or --module and a config.json beside the hub's files.",
       .flags = std::move(flags),
       .positionals = {"FROM", "TO"}},
      &run};
}

}  // namespace titan::app
