#include "tests/numerics/llama3/llama.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "core/base/files.hpp"
#include "core/base/plugin_call.hpp"
#include "core/checkpoint/hub/model_names.hpp"
#include "core/config/resolver.hpp"
#include "core/plugin/registry.hpp"
#include "core/tensor/interface.hpp"

namespace titan::testing {
namespace {

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TENSOR_V1) return tensor::tensor_interface();
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  return nullptr;
}

plugin::PluginRegistry find_plugin() {
  plugin::Search search;
  search.files = {LLAMA3_PLUGIN};
  return plugin::PluginRegistry(search);
}

std::unique_ptr<plugin::Instance> load_plugin(const config::Config* config) {
  const plugin::PluginRegistry plugins = find_plugin();
  return plugins.load(plugins.find_model("llama3"), {config, &engine_interface, 0, 1});
}

config::Registry declared_options() {
  config::Registry registry;
  config::add_core_options(registry);
  find_plugin().register_options(registry);
  return registry;
}

// One for all tests: a resolved configuration points into its registry.
const config::Registry& registry() {
  static const config::Registry declared = declared_options();
  return declared;
}

const at::Tensor& find(const NamedTensors& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw std::runtime_error("no tensor " + name);
  return found->second;
}

void set(nn::Tree& tree, const std::string& name, const at::Tensor& value) {
  nn::Parameter* parameter = tree.find_parameter(name);
  if (parameter == nullptr) throw std::runtime_error("no parameter " + name);
  if (parameter->storage.sizes() != value.sizes()) throw std::runtime_error("another shape: " + name);
  const c10::NoGradGuard no_grad;
  parameter->storage.copy_(value);
}

/// Rows of half rotation [heads, 2, H/2] become rows of pairs [heads, H/2, 2].
at::Tensor pairs_of_halves(const at::Tensor& weight, std::int64_t heads) {
  return weight.view({heads, 2, -1, weight.size(1)}).transpose(1, 2).reshape(weight.sizes());
}

}  // namespace

nn::Precision same_precision(at::ScalarType dtype) { return {dtype, dtype, dtype}; }

Llama::Llama(const std::string& preset, const Settings& settings, const nn::Precision& precision, std::uint64_t seed)
    : config_(config::resolve_settings(registry(), settings, "llama3", preset)),
      instance_(load_plugin(&config_)),
      model_(instance_->interface<titan_model_v1>(TITAN_MODEL_V1)) {
  plugin_call(instance_->host(), "llama3", "build",
              [&] { return model_.table->build(model_.ctx, reinterpret_cast<titan_tree*>(&tree_)); });
  tree_.validate();
  // The models are tiny, and tests run side by side.
  at::set_num_threads(1);
  tree_.materialise(precision, at::kCPU, seed);
}

std::vector<nn::Parameter*> Llama::parameters() const {
  std::vector<nn::Parameter*> all;
  for (const auto& parameter : tree_.parameters()) all.push_back(parameter.get());
  return all;
}

std::vector<checkpoint::HubName> Llama::hub_names() const {
  return checkpoint::hub_names_of(instance_->host(), model_);
}

void Llama::load(const NamedTensors& tensors) {
  for (const auto& parameter : tree_.parameters()) set(tree_, parameter->name, find(tensors, parameter->name));
  tree_.refresh_compute();
}

void Llama::load_hf(const NamedTensors& tensors) {
  struct Sink {
    nn::Tree& tree;
    const NamedTensors& tensors;
  } sink{tree_, tensors};
  const auto emit = [](void* to, const titan_hf_name* name) -> titan_error* {
    const auto& s = *static_cast<Sink*>(to);
    at::Tensor value = find(s.tensors, std::string(name->hf_name.data, name->hf_name.size));
    if (name->transform == TITAN_HF_ROPE_HALVES) value = pairs_of_halves(value, name->num_heads);
    set(s.tree, std::string(name->name.data, name->name.size), value);
    return nullptr;
  };
  plugin_call(instance_->host(), "llama3", "hf_names", [&] { return model_.table->hf_names(model_.ctx, &sink, emit); });
  tree_.refresh_compute();
}

at::Tensor Llama::logits(const at::Tensor& tokens) { return tree_.forward(tokens, plain_positions(tokens)); }

double Llama::accumulate(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& labels,
                         double scale) {
  const at::Tensor loss = tree_.loss(tree_.forward(tokens, positions), labels);
  loss.backward(at::full_like(loss, scale));
  tree_.collect_gradients();
  return loss.item<double>();
}

Settings translate_hub_config(const std::filesystem::path& file) {
  const std::string text = read_file(file, 1 << 20);
  const auto instance = load_plugin(nullptr);
  const auto model = instance->interface<titan_model_v1>(TITAN_MODEL_V1);
  Settings settings;
  const auto emit = [](void* to, titan_string option, titan_string value) -> titan_error* {
    static_cast<Settings*>(to)->push_back({std::string(option.data, option.size), std::string(value.data, value.size)});
    return nullptr;
  };
  plugin_call(instance->host(), "llama3", "hf_config", [&] {
    return model.table->hf_config(model.ctx, {text.data(), text.size()}, &settings, emit);
  });
  return settings;
}

at::Tensor plain_positions(const at::Tensor& tokens) {
  return at::arange(tokens.size(1), tokens.options()).unsqueeze(0).expand_as(tokens);
}

}  // namespace titan::testing
