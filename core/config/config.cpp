#include "core/config/config.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/config/format.hpp"

namespace titan::config {

Config::Config(std::string module, std::string config_name, Entries entries)
    : module_(std::move(module)), config_name_(std::move(config_name)), entries_(std::move(entries)) {}

const Config::Entry& Config::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  TITAN_CHECK(found != entries_.end(), "option is not declared: ", name);
  return found->second;
}

template <class Content>
const Content& Config::content(std::string_view name) const {
  const auto* content = std::get_if<Content>(&entry(name).value);
  TITAN_CHECK(content != nullptr, "option is None or of another type: ", name);
  return *content;
}

const Value& Config::value(std::string_view name) const { return entry(name).value; }
const std::string& Config::origin(std::string_view name) const { return entry(name).origin; }

bool Config::boolean(std::string_view name) const { return content<bool>(name); }
std::int64_t Config::integer(std::string_view name) const { return content<std::int64_t>(name); }
double Config::floating(std::string_view name) const { return content<double>(name); }
const std::string& Config::string(std::string_view name) const { return content<std::string>(name); }
const std::vector<std::string>& Config::strings(std::string_view name) const {
  return content<std::vector<std::string>>(name);
}

std::optional<std::int64_t> Config::optional_integer(std::string_view name) const {
  if (std::holds_alternative<std::monostate>(value(name))) return std::nullopt;
  return integer(name);
}

std::optional<double> Config::optional_floating(std::string_view name) const {
  if (std::holds_alternative<std::monostate>(value(name))) return std::nullopt;
  return floating(name);
}

std::optional<std::string> Config::optional_string(std::string_view name) const {
  if (std::holds_alternative<std::monostate>(value(name))) return std::nullopt;
  return string(name);
}

std::string must_match_hash(const Config& config) {
  std::string text = concat("module=", config.module(), "\n");
  for (const auto& [name, entry] : config.entries()) {
    if (entry.option->must_match) text += concat(name, "=", to_toml(*entry.option, entry.value), "\n");
  }
  return hash128(text);
}

}  // namespace titan::config
