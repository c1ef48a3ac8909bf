#include "core/checkpoint/hub/model_names.hpp"

#include <string>
#include <utility>

#include "core/base/plugin_call.hpp"

namespace titan::checkpoint {
namespace {

std::string text(titan_string string) { return string.data == nullptr ? "" : std::string(string.data, string.size); }

HubTransform transform_of(std::int32_t transform, const std::string& name) {
  switch (transform) {
    case TITAN_HF_SAME:
      return HubTransform::same;
    case TITAN_HF_ROPE_HALVES:
      return HubTransform::rope_halves;
    case TITAN_HF_STACKED:
      return HubTransform::stacked;
    default:
      throw PluginError("[checkpoint] a model plugin gives a transform that does not exist: ", name, ", ", transform);
  }
}

/// A copy of what the plugin emits: it is judged when the plugin has returned, as no exception may go through it.
struct Emitted {
  std::string name, hub_name;
  std::int32_t transform, count;
};

titan_error* emit(void* sink, const titan_hf_name* name) {
  static_cast<std::vector<Emitted>*>(sink)->push_back(
      {text(name->name), text(name->hf_name), name->transform, name->num_heads});
  return nullptr;
}

}  // namespace

std::vector<HubName> hub_names_of(const titan_host* host, const PluginInterface<titan_model_v1>& model) {
  std::vector<Emitted> emitted;
  plugin_call(host, model.plugin.c_str(), "hf_names",
              [&] { return model.table->hf_names(model.ctx, &emitted, &emit); });
  std::vector<HubName> names;
  for (Emitted& one : emitted) {
    const HubTransform transform = transform_of(one.transform, one.name);
    names.push_back({std::move(one.name), std::move(one.hub_name), transform, one.count});
  }
  return names;
}

}  // namespace titan::checkpoint
