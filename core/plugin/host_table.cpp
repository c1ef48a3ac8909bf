#include "core/plugin/host_table.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/abi_error.hpp"
#include "core/base/log.hpp"
#include "core/plugin/abi_text.hpp"

namespace titan::plugin {
namespace {

titan_error* error_new(const titan_host*, std::int32_t code, titan_string text) {
  return new_abi_error(code, view(text));
}

std::int32_t error_code(const titan_host*, const titan_error* error) { return error->code; }

titan_string error_text(const titan_host*, const titan_error* error) { return borrow(error->text); }

void error_release(const titan_host*, titan_error* error) { delete_abi_error(error); }

void write_log(const titan_host*, std::int32_t level, titan_string tag, titan_string text) {
  try {
    const std::int32_t known = std::clamp<std::int32_t>(level, TITAN_LOG_DEBUG, TITAN_LOG_ERROR);
    log(static_cast<LogLevel>(known), view(tag), view(text));
  } catch (...) {
    // A line that cannot be written is no reason to stop, and no exception may cross into the plugin.
  }
}

titan_config_value to_abi(const config::Value& value, const std::vector<titan_string>* list) {
  titan_config_value out{};
  out.kind = TITAN_CONFIG_NONE;
  if (const auto* boolean = std::get_if<bool>(&value)) {
    out.kind = TITAN_CONFIG_BOOL;
    out.boolean = *boolean ? 1 : 0;
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    out.kind = TITAN_CONFIG_INT;
    out.integer = *integer;
  } else if (const auto* floating = std::get_if<double>(&value)) {
    out.kind = TITAN_CONFIG_FLOAT;
    out.floating = *floating;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out.kind = TITAN_CONFIG_STRING;
    out.string = borrow(*text);
  } else if (list != nullptr) {
    out.kind = TITAN_CONFIG_STRINGS;
    out.strings = list->data();
    out.num_strings = list->size();
  }
  return out;
}

}  // namespace

HostTable::HostTable(const HostServices& services) : services_(services) {
  if (services_.config != nullptr) {
    for (const auto& [name, entry] : services_.config->entries()) {
      const auto* texts = std::get_if<std::vector<std::string>>(&entry.value);
      if (texts == nullptr) continue;
      auto& list = lists_[name];
      for (const auto& text : *texts) list.push_back(borrow(text));
    }
  }
  table_.struct_size = sizeof(titan_host);
  table_.rank = services_.rank;
  table_.world_size = services_.world_size;
  table_.impl = this;
  table_.error_new = error_new;
  table_.error_code = error_code;
  table_.error_text = error_text;
  table_.error_release = error_release;
  table_.log = write_log;
  table_.get_interface = get_interface;
  table_.config_get = config_get;
}

const void* HostTable::get_interface(const titan_host* host, titan_string id) {
  const auto& services = self(host).services_;
  return services.get_interface == nullptr ? nullptr : services.get_interface(id);
}

titan_error* HostTable::config_get(const titan_host* host, titan_string name, titan_config_value* out) {
  return abi_guard([&] {
    const HostTable& table = self(host);
    const auto* config = table.services_.config;
    if (config == nullptr) throw ConfigError("[config] this run has no configuration: option ", view(name));
    const auto entry = config->entries().find(view(name));
    if (entry == config->entries().end()) throw ConfigError("[config] no such option: ", view(name));
    const auto list = table.lists_.find(view(name));
    *out = to_abi(entry->second.value, list == table.lists_.end() ? nullptr : &list->second);
  });
}

}  // namespace titan::plugin
