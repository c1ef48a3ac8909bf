#include "tests/unit/config/sample_registry.hpp"

#include "core/config/cli_reader.hpp"
#include "core/config/option_builder.hpp"

namespace titan::test {

using namespace config;  // NOLINT(google-build-using-namespace): a table of declarations

namespace {

void add_models(Registry& registry) {
  registry.add_module("llama3");
  registry.add_module("mixtral");
  registry.add(integer("model.dim", 256, "Width.").at_least(1).owned_by("llama3"));
  registry.add(floating("model.ffn_dim_multiplier", std::nullopt, "Factor.").above(0).owned_by("llama3"));
  registry.add(boolean("model.dim", true, "Not a number here.").owned_by("mixtral"));
  registry.add(integer("model.n_experts", 8, "Experts of a layer.").at_least(1).owned_by("mixtral"));
  registry.add(
      Preset{"llama3_debugmodel", "Small.", "", {{"training.steps", "10"}, {"metrics.log_freq", "1"}}, "llama3"});
  registry.add(Preset{"llama3_base", "For others.", "", {{"training.steps", "3000"}, {"debug.seed", "7"}}, "llama3"});
  registry.add(Preset{"llama3_8b", "8B.", "llama3_base", {{"model.dim", "4096"}, {"optimizer.lr", "3e-4"}}, "llama3"});
  registry.add(Preset{"mixtral_8x7b", "Experts.", "", {{"model.dim", "false"}}, "mixtral"});
}

void add_every_type(Registry& registry) {
  registry.add(boolean("sample.enable_x", false, "A switch.").owned_by("sampler"));
  registry.add(integer("sample.count", 1, "A number.").at_least(-5).at_most(5).owned_by("sampler"));
  registry.add(integer("sample.maybe_count", 3, "A number or none.").nullable().owned_by("sampler"));
  registry.add(floating("sample.share", 0.5, "A share.").above(0).below(1).owned_by("sampler"));
  registry.add(text("sample.name", "x", "A text.").owned_by("sampler"));
  registry.add(text("sample.maybe_name", "y", "A text or none.").nullable().owned_by("sampler"));
  registry.add(text("sample.mode", "fast", "A choice.").one_of({"fast", "slow"}).owned_by("sampler"));
  registry.add(path("sample.file", std::nullopt, "A file.").owned_by("sampler"));
  registry.add(texts("sample.items", {"a"}, "Some texts.").owned_by("sampler"));
  registry.add(texts("sample.maybe_items", {"a"}, "Texts or none.").nullable().owned_by("sampler"));
  registry.add(tables("sample.groups", "Tables.").owned_by("sampler"));
}

}  // namespace

Registry sample_registry() {
  Registry registry;
  add_core_options(registry);
  add_models(registry);
  add_every_type(registry);
  registry.add(integer("metrics.log_freq", 10, "Steps between lines.").at_least(1).owned_by("observability"));
  Verb config{"config", "Prints the resolved configuration.", run_flags(), {}};
  config.flags.push_back({.name = "schema", .metavar = "", .help = "Prints the JSON Schema of a file."});
  registry.add(config);
  registry.add(Verb{"train", "Trains a model.", run_flags(), {}});
  registry.add(Verb{"plugin", "Shows plugins.", {}, {"ACTION", "FILE"}, false});
  registry.add(Verb{"launch", "Runs another.", {{"num-ranks", "N", "Ranks."}}, {}, false, "[train] RUN..."});
  return registry;
}

}  // namespace titan::test
