#pragma once

#include <memory>
#include <string_view>

#include "titan/abi/plugin.h"
#include "titan/sdk/describe.hpp"
#include "titan/sdk/host.hpp"

namespace titan::sdk {

/// The oldest host this layer works with; the note of TITAN_PLUGIN_NOTE says the same.
inline constexpr std::uint32_t kAbiMinorNeeded = 1;

/// Who a plugin is. Texts are literals.
struct Identity {
  std::string_view id;       // reverse URI, unique: "org.titan.llama3"
  std::string_view name;     // what the user types: "llama3"; [a-z0-9_]+
  std::string_view version;  // semantic
  std::string_view license;  // SPDX expression
  std::int32_t tier = TITAN_TIER_STABLE;
  std::string_view torch_version = {};  // torch tier only, as the two below
  std::int32_t cxx11_abi = -1;
  std::int32_t cuda_major = -1;
};

/// One running plugin: what the ABI's `ctx` points to.
template <class Plugin>
struct Instance {
  explicit Instance(Host h) : host(h), plugin(h) {}
  Host host;
  Plugin plugin;
};

/// The instance behind a ctx.
template <class Plugin>
Instance<Plugin>& instance_of(void* ctx) noexcept {
  return *static_cast<Instance<Plugin>*>(ctx);
}

/// The ABI entry of a plugin class, which has
///   static constexpr titan::sdk::Identity kIdentity;
///   static void describe(titan::sdk::Describe&);   options and presets
///   explicit Plugin(titan::sdk::Host);             init; the destructor is shutdown
/// and what its interface adapters ask for. An adapter is a template <class Plugin> with `kId` and `table()`.
template <class Plugin, template <class> class... Interfaces>
struct Entry {
  static titan_error* describe(const titan_describe_sink* sink) noexcept {
    return describe_into(sink, [](Describe& d) {
      (d.provides(Interfaces<Plugin>::kId), ...);
      Plugin::describe(d);
    });
  }

  static titan_error* init(const titan_host* host, void** ctx) noexcept {
    return guard(host, [&] { *ctx = std::make_unique<Instance<Plugin>>(Host(host)).release(); });
  }

  static const void* get_interface(void*, [[maybe_unused]] titan_string id) noexcept {
    const void* found = nullptr;
    ((view(id) == Interfaces<Plugin>::kId ? void(found = Interfaces<Plugin>::table()) : void()), ...);
    return found;
  }

  static void shutdown(void* ctx) noexcept { delete static_cast<Instance<Plugin>*>(ctx); }

  static const titan_plugin_info* info() noexcept {
    constexpr Identity me = Plugin::kIdentity;
    static constexpr titan_plugin_info kInfo{
        sizeof(titan_plugin_info),
        TITAN_PLUGIN_MAGIC,
        TITAN_ABI_MAJOR,
        TITAN_ABI_MINOR,
        kAbiMinorNeeded,
        me.tier,
        me.cxx11_abi,
        me.cuda_major,
        {me.torch_version.data(), me.torch_version.size()},
        borrow(me.id),
        borrow(me.name),
        borrow(me.version),
        borrow(me.license),
        &describe,
        &init,
        &get_interface,
        &shutdown,
    };
    return &kInfo;
  }
};

}  // namespace titan::sdk

/// Defines a plugin's one exported symbol and its ELF note. Use once, at file scope, outside of any namespace:
///   TITAN_PLUGIN(llama3::Plugin, titan::sdk::ModelInterface)
#define TITAN_PLUGIN(PluginClass, ...)                                                                     \
  TITAN_PLUGIN_NOTE(PluginClass::kIdentity.tier);                                                          \
  extern "C" __attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) { \
    return ::titan::sdk::Entry<PluginClass __VA_OPT__(, ) __VA_ARGS__>::info();                            \
  }                                                                                                        \
  static_assert(true, "a semicolon follows")
