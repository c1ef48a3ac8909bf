#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.hpp"
#include "titan/abi/host.h"

namespace titan::plugin {

/// What stands behind a host table. The configuration outlives every table made from it.
struct HostServices {
  const config::Config* config = nullptr;                   // null: no option is known
  const void* (*get_interface)(titan_string id) = nullptr;  // the engine's interfaces; null: there are none
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
};

/// The table one plugin instance sees of the host. Any thread may call through it.
class HostTable {
 public:
  explicit HostTable(const HostServices& services);
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  const titan_host* get() const noexcept { return &table_; }

 private:
  static const HostTable& self(const titan_host* host) { return *static_cast<const HostTable*>(host->impl); }
  static const void* get_interface(const titan_host* host, titan_string id);
  static titan_error* config_get(const titan_host* host, titan_string name, titan_config_value* out);

  HostServices services_;
  std::map<std::string, std::vector<titan_string>, std::less<>> lists_;  // of STRINGS options, in ABI form
  titan_host table_{};
};

}  // namespace titan::plugin
