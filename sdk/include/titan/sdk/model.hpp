#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "titan/abi/model.h"
#include "titan/sdk/plugin.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::sdk {

/// One parameter's name on the hub.
struct HfName {
  std::string name;     // ours: "layers.0.attention.wq.weight"
  std::string hf_name;  // theirs: "model.layers.0.self_attn.q_proj.weight"
  std::int32_t transform = TITAN_HF_SAME;
  std::int32_t num_heads = 0;  // for TITAN_HF_ROPE_HALVES; for TITAN_HF_STACKED the number of tensors
};

/// One option that a hub config.json sets; the value is written as on the command line.
struct HfSetting {
  std::string option;
  std::string value;
};

/// Adapter for titan.model/1. The plugin class defines
///   titan_model_facts facts(std::int64_t sequence_length) const;
///   void build(titan::sdk::Scope& root) const;             modules, chain and loss
///   std::vector<HfName> hf_names() const;                  one entry per parameter
///   std::vector<HfSetting> hf_config(std::string_view json) const;
/// They run on one thread per instance; what they throw stops the run.
template <class Plugin>
struct ModelInterface {
  static constexpr std::string_view kId = TITAN_MODEL_V1;

  static const void* table() noexcept {
    static constexpr titan_model_v1 kTable{sizeof(titan_model_v1), &facts, &build, &hf_names, &hf_config};
    return &kTable;
  }

 private:
  static titan_error* facts(void* ctx, std::int64_t sequence_length, titan_model_facts* out) noexcept {
    return run(ctx, [&](const Instance<Plugin>& instance) {
      titan_model_facts made = instance.plugin.facts(sequence_length);
      made.struct_size = out->struct_size;
      std::memcpy(out, &made, std::min<std::size_t>(out->struct_size, sizeof made));
    });
  }

  static titan_error* build(void* ctx, titan_tree* tree) noexcept {
    return run(ctx, [&](const Instance<Plugin>& instance) {
      Scope root(std::make_shared<const ModuleApi>(instance.host), tree, TITAN_MODULE_ROOT);
      instance.plugin.build(root);
    });
  }

  static titan_error* hf_names(void* ctx, void* sink, titan_error* (*emit)(void*, const titan_hf_name*)) noexcept {
    return run(ctx, [&](const Instance<Plugin>& instance) {
      for (const HfName& one : instance.plugin.hf_names()) {
        const titan_hf_name data{borrow(one.name), borrow(one.hf_name), one.transform, one.num_heads};
        instance.host.check(emit(sink, &data));
      }
    });
  }

  static titan_error* hf_config(void* ctx, titan_string json, void* sink,
                                titan_error* (*emit)(void*, titan_string, titan_string)) noexcept {
    return run(ctx, [&](const Instance<Plugin>& instance) {
      for (const HfSetting& one : instance.plugin.hf_config(view(json)))
        instance.host.check(emit(sink, borrow(one.option), borrow(one.value)));
    });
  }

  template <class Body>
  static titan_error* run(void* ctx, Body body) noexcept {
    const Instance<Plugin>& instance = instance_of<Plugin>(ctx);
    return guard(instance.host.table(), [&] { body(instance); });
  }
};

}  // namespace titan::sdk
