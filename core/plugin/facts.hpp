#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option.hpp"

namespace titan::plugin {

/// The ABI a plugin was built with, and what it needs of the host.
struct AbiFacts {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t minor_needed = 0;
  std::int32_t tier = 0;  // TITAN_TIER_*
};

/// The libtorch a torch-tier plugin, or the host, was built against.
struct TorchPin {
  std::string version;           // "2.11.0"; empty: none
  std::int32_t cxx11_abi = -1;   // _GLIBCXX_USE_CXX11_ABI
  std::int32_t cuda_major = -1;  // 0: a CPU-only libtorch
  bool operator==(const TorchPin&) const = default;
};

/// All a plugin says about itself without being initialised: its info block and what describe() emits.
struct Facts {
  std::string id;
  std::string name;
  std::string version;
  std::string license;
  AbiFacts abi;
  TorchPin torch;
  std::vector<std::string> provides;  // interface ids
  std::vector<config::Option> options;
  std::vector<config::Preset> presets;

  bool provides_interface(std::string_view interface_id) const;
};

/// Checks what holds for every plugin: well-formed id, name, version and interface ids, no option, preset or interface
/// declared twice, options and presets owned by the plugin, preset bases that exist and end. PluginError names the
/// rule.
void check_facts(const Facts& facts);

}  // namespace titan::plugin
