#include "core/config/print.hpp"

#include "core/base/text.hpp"
#include "core/config/format.hpp"

namespace titan::config {

namespace {

bool is_none(const Value& value) { return std::holds_alternative<std::monostate>(value); }

/// None that is the default too is only told, in a comment; TOML has no value for it.
std::string render_entry(std::string_view name, const Config::Entry& entry) {
  const bool by_default = is_none(entry.value) && is_none(entry.option->default_value);
  const std::string value = by_default ? "None" : to_toml(*entry.option, entry.value);
  return concat(by_default ? "# " : "", key_of(name), " = ", value, "  # ", printable(entry.origin), "\n");
}

std::string render_head(const Config& config) {
  std::string out;
  if (!config.module().empty()) out += concat("module = ", toml_string(config.module()), "\n");
  if (!config.config_name().empty()) out += concat("# config: ", printable(config.config_name()), "\n");
  return out;
}

}  // namespace

std::string render_toml(const Config& config) {
  std::string head = render_head(config);
  std::map<std::string, std::string, std::less<>> sections;
  for (const auto& [name, entry] : config.entries()) {
    const std::string_view section = section_of(name);
    (section.empty() ? head : sections[std::string(section)]) += render_entry(name, entry);
  }
  for (const auto& [section, lines] : sections) head += concat(head.empty() ? "" : "\n", "[", section, "]\n", lines);
  return head;
}

}  // namespace titan::config
