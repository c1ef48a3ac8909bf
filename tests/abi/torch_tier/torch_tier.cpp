// The smallest plugin that links libtorch: its option's default comes from there.
#include <c10/core/DeviceType.h>

#include <cstring>
#include <string>
#include <string_view>

#include "titan/abi/observer.h"
#include "titan/abi/plugin.h"

namespace {

constexpr titan_string text(std::string_view literal) { return {literal.data(), literal.size()}; }

titan_error* describe(const titan_describe_sink* sink) {
  const std::string device = c10::DeviceTypeName(c10::DeviceType::CPU, /*lower_case=*/true);
  titan_option option{};
  option.struct_size = sizeof option;
  option.type = TITAN_OPTION_STRING;
  option.name = text("torch_tier.device");
  option.default_text = {device.data(), device.size()};
  option.help = text("A device as libtorch names it.");
  if (titan_error* error = sink->option(sink->ctx, &option)) return error;
  return sink->provides(sink->ctx, text(TITAN_OBSERVER_V1));
}

titan_error* init(const titan_host*, void** ctx) {
  *ctx = nullptr;
  return nullptr;
}

const void* get_interface(void*, titan_string id) {
  static constexpr titan_observer_v1 kObserver{sizeof(titan_observer_v1), 0, {}, {}, {}, {}, {}, {}, {}, {}};
  return std::string_view(id.data, id.size) == TITAN_OBSERVER_V1 ? &kObserver : nullptr;
}

void shutdown(void*) {}

constexpr titan_plugin_info kInfo{sizeof(titan_plugin_info),
                                  TITAN_PLUGIN_MAGIC,
                                  TITAN_ABI_MAJOR,
                                  TITAN_ABI_MINOR,
                                  1,
                                  TITAN_TIER_TORCH,
                                  _GLIBCXX_USE_CXX11_ABI,
                                  TITAN_TORCH_CUDA_MAJOR,
                                  text(TITAN_TORCH_VERSION),
                                  text("org.titan.test.torch_tier"),
                                  text("torch_tier"),
                                  text("0.1.0"),
                                  text("MIT"),
                                  describe,
                                  init,
                                  get_interface,
                                  shutdown};

}  // namespace

TITAN_PLUGIN_NOTE(TITAN_TIER_TORCH);

extern "C" __attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) {
  return &kInfo;
}
