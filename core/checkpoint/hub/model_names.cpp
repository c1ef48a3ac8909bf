#include "core/checkpoint/hub/model_names.hpp"

#include <optional>
#include <string>
#include <utility>

#include "core/base/abi_error.hpp"
#include "core/base/plugin_call.hpp"

namespace titan::checkpoint {
namespace {

std::string text(titan_string value) {
  return value.data == nullptr ? std::string() : std::string(value.data, value.size);
}

std::optional<HubTransform> transform_of(std::int32_t value) {
  switch (value) {
    case TITAN_HF_SAME:
      return HubTransform::same;
    case TITAN_HF_ROPE_HALVES:
      return HubTransform::rope_halves;
    case TITAN_HF_STACKED:
      return HubTransform::stacked;
    default:
      return std::nullopt;
  }
}

titan_error* emit_name(void* sink, const titan_hf_name* name) {
  return abi_guard([&] {
    HubName made{text(name->name), text(name->hf_name), HubTransform::same, name->num_heads};
    const auto transform = transform_of(name->transform);
    const bool is_stack = transform == HubTransform::stacked;
    if (made.name.empty() || made.hub_name.empty() || !transform) {
      throw PluginError("[checkpoint] a hub name is not complete: ", printable(made.name), ", ",
                        printable(made.hub_name), ", transform ", name->transform);
    }
    if (is_stack != (made.hub_name.find('*') != std::string::npos)) {
      throw PluginError("[checkpoint] the hub's name of a stack has a '*', and no other: ", printable(made.hub_name));
    }
    made.transform = *transform;
    static_cast<std::vector<HubName>*>(sink)->push_back(std::move(made));
  });
}

}  // namespace

std::vector<HubName> hub_names_of(const titan_host* host, const PluginInterface<titan_model_v1>& model) {
  std::vector<HubName> names;
  plugin_call(host, model.plugin.c_str(), "hf_names",
              [&] { return model.table->hf_names(model.ctx, &names, emit_name); });
  return names;
}

}  // namespace titan::checkpoint
