#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/checkpoint/hub/hub.hpp"
#include "core/config/config.hpp"
#include "core/nn/tree.hpp"
#include "core/plugin/instance.hpp"
#include "tests/support/safetensors.hpp"

namespace titan::testing {

using Settings = std::vector<config::Preset::Setting>;

/// The dtype of storage, compute form and gradients alike.
nn::Precision same_precision(at::ScalarType dtype);

/// A llama of the built plugin, loaded, configured, built and materialised as a run does it.
class Llama {
 public:
  /// `preset` may be empty; settings come on top of it.
  Llama(const std::string& preset, const Settings& settings, const nn::Precision& precision, std::uint64_t seed = 1);

  nn::Tree& tree() { return tree_; }
  const config::Config& config() const { return config_; }
  std::vector<nn::Parameter*> parameters() const;
  /// Their names on the hub.
  std::vector<checkpoint::HubName> hub_names() const;

  /// Sets every weight from tensors under our names. Throws std::runtime_error naming one that is missing.
  void load(const NamedTensors& tensors);
  /// Sets every weight from tensors under the hub's names, through the plugin's own map.
  void load_hf(const NamedTensors& tensors);

  /// Logits [B, L, V] at positions 0, 1, ... of every row.
  at::Tensor logits(const at::Tensor& tokens);
  /// Runs forward and backward of (sum of losses) * scale; the sum of losses. Gradients are added up in the tree.
  double accumulate(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& labels, double scale);

 private:
  config::Config config_;
  std::unique_ptr<plugin::Instance> instance_;
  PluginInterface<titan_model_v1> model_;
  nn::Tree tree_;
};

/// The settings of a hub config.json, translated by the plugin.
Settings translate_hub_config(const std::filesystem::path& file);

/// Positions 0, 1, ... in every row of `tokens` [B, L].
at::Tensor plain_positions(const at::Tensor& tokens);

}  // namespace titan::testing
