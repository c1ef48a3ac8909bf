#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/registry.hpp"

namespace titan::config {

/// A resolved configuration: each option's value and where it came from. Immutable once resolved; any thread may read.
/// A typed getter throws InternalError for an undeclared option, another type, or None (use the optional_ form).
class Config {
 public:
  struct Entry {
    const Option* option = nullptr;
    Value value;
    std::string origin;  // "default", "preset llama3_8b", "run.toml:12", "command line"
  };

  /// The model plugin of the run ("llama3"), from --module or the file; may be empty.
  const std::string& module() const { return module_; }
  /// What --config named: a preset or a file.
  const std::string& config_name() const { return config_name_; }

  const Value& value(std::string_view name) const;
  const std::string& origin(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double floating(std::string_view name) const;
  const std::string& string(std::string_view name) const;
  const std::vector<std::string>& strings(std::string_view name) const;
  std::optional<std::int64_t> optional_integer(std::string_view name) const;
  std::optional<double> optional_floating(std::string_view name) const;
  std::optional<std::string> optional_string(std::string_view name) const;

  /// Entries in order of name.
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  friend class Resolver;
  std::string module_;
  std::string config_name_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace titan::config
