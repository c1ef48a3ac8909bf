#include "core/plugin/instance.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
#include "core/plugin/abi_text.hpp"

namespace titan::plugin {

Instance::Instance(const titan_plugin_info& info, std::string name, const HostServices& services)
    : info_(info), name_(std::move(name)), host_(services) {
  plugin_call(host(), name_.c_str(), "init", [&] { return info_.init(host(), &ctx_); });
}

Instance::~Instance() {
  try {
    plugin_call(host(), name_.c_str(), "shutdown", [&]() -> titan_error* {
      info_.shutdown(ctx_);
      return nullptr;
    });
  } catch (const std::exception& error) {
    log_error("plugin", error.what());
  }
}

const void* Instance::get_interface(std::string_view id) const {
  const void* found = nullptr;
  plugin_call(host(), name_.c_str(), "get_interface", [&]() -> titan_error* {
    found = info_.get_interface(ctx_, borrow(id));
    return nullptr;
  });
  return found;
}

}  // namespace titan::plugin
