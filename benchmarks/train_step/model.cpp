#include "benchmarks/train_step/model.hpp"

#include <string_view>

#include "core/base/error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/config/resolver.hpp"
#include "core/tensor/interface.hpp"
#include "titan/abi/model.h"

namespace titan::benchmark {
namespace {

config::Registry all_options(const plugin::PluginRegistry& plugins) {
  config::Registry registry;
  config::add_core_options(registry);
  plugins.register_options(registry);
  return registry;
}

config::Config configure(const config::Registry& registry, const Case& chosen, const Inputs& inputs) {
  std::vector<config::Preset::Setting> settings = {
      {"training.num_tokens_per_microbatch_per_dp_rank", std::to_string(chosen.rows * chosen.length)},
      {"training.max_context_length", std::to_string(chosen.length)},
      {"training.mixed_precision_param", chosen.bf16 ? "bfloat16" : "float32"},
      // Long enough that no benchmark reaches the end of the schedule.
      {"training.steps", "100000"},
      {"debug.seed", "0"},
      {"dataloader.dataset_path", inputs.dataset},
      {"hf_assets_path", inputs.tokenizer}};
  for (const auto& [option, value] : chosen.settings) settings.push_back({option, value});
  return config::resolve_settings(registry, settings, "llama3", "llama3_debugmodel");
}

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TENSOR_V1) return tensor::tensor_interface();
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  return nullptr;
}

optim::AdamOptimizer make_optimizer(const train::RunOptions& options, const nn::Tree& tree) {
  std::vector<nn::Parameter*> parameters;
  for (const auto& parameter : tree.parameters()) parameters.push_back(parameter.get());
  return optim::AdamOptimizer(parameters, options.optimizer.rules, options.optimizer.defaults,
                              options.optimizer.implementation);
}

}  // namespace

TitanRun::TitanRun(const Case& chosen, const Inputs& inputs)
    : plugins_({.files = {}, .folders = {TITAN_PLUGIN_FOLDER}, .module = "llama3"}) {
  registry_ = all_options(plugins_);
  config_ = configure(registry_, chosen, inputs);
  model_ = plugins_.load(plugins_.find_model("llama3"), {.config = &config_, .get_interface = engine_interface});
  options_ = train::read_run_options(config_);
  tokenizer_ = data::Tokenizer::load(options_.tokenizer_path);
  source_ = open_data();
  const auto model = model_->interface<titan_model_v1>(TITAN_MODEL_V1);
  plugin_call(model_->host(), model.plugin.c_str(), "build",
              [&] { return model.table->build(model.ctx, reinterpret_cast<titan_tree*>(&tree_)); });
  tree_.validate();
  tree_.materialise(options_.precision, at::kCPU, 0);
  trainer_ = std::make_unique<train::Trainer>(tree_, *source_, make_optimizer(options_, tree_),
                                              optim::LrSchedule(options_.schedule),
                                              train::Trainer::Options{1, options_.max_norm});
}

train::StepResult TitanRun::step() {
  auto result = trainer_->step();
  TITAN_CHECK(result.has_value(), "the data ended");
  return *result;
}

std::unique_ptr<train::BatchSource> TitanRun::open_data() const {
  return std::make_unique<train::LoaderSource>(data::Loader(options_.data, tokenizer_));
}

}  // namespace titan::benchmark
