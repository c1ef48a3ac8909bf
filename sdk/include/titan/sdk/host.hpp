#pragma once

#include <cstdint>
#include <string_view>

#include "titan/sdk/config.hpp"
#include "titan/sdk/error.hpp"

namespace titan::sdk {

/// The host as one plugin instance sees it. A pointer: copy freely; valid until the instance is shut down; any thread.
class Host {
 public:
  explicit Host(const titan_host* table) noexcept : table_(table) {}

  const titan_host* table() const noexcept { return table_; }
  std::uint32_t rank() const noexcept { return table_->rank; }
  std::uint32_t world_size() const noexcept { return table_->world_size; }
  Config config() const noexcept { return Config(table_); }

  /// Throws HostError unless the host's function succeeded.
  void check(titan_error* error) const { sdk::check(table_, error); }

  /// Writes one line to the log; `tag` names the source ("metrics").
  void log(std::int32_t level, std::string_view tag, std::string_view text) const {
    table_->log(table_, level, borrow(tag), borrow(text));
  }
  void info(std::string_view tag, std::string_view text) const { log(TITAN_LOG_INFO, tag, text); }
  void warning(std::string_view tag, std::string_view text) const { log(TITAN_LOG_WARNING, tag, text); }

  /// Finds a host interface, or null where this run has none.
  template <class Interface>
  const Interface* find(std::string_view id) const {
    return static_cast<const Interface*>(table_->get_interface(table_, borrow(id)));
  }
  /// Finds a host interface the plugin cannot do without; AbiError names it.
  template <class Interface>
  const Interface* require(std::string_view id) const {
    const auto* found = find<Interface>(id);
    if (found == nullptr) throw AbiError("[plugin] the host does not offer an interface: ", id);
    return found;
  }

 private:
  const titan_host* table_;
};

}  // namespace titan::sdk
