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
/// Entries point to options of the registry it was resolved with, which must outlive it.
/// A typed getter throws InternalError for an undeclared option, another type, or None (use the optional_ form).
class Config {
 public:
  struct Entry {
    const Option* option = nullptr;
    Value value;
    std::string origin;  // "default", "preset llama3_8b", "run.toml:12", "command line"
  };

  using Entries = std::map<std::string, Entry, std::less<>>;

  Config() = default;
  /// Takes resolved entries, each with its option; resolve() makes them.
  Config(std::string module, std::string config_name, Entries entries);

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
  const Entries& entries() const { return entries_; }

 private:
  const Entry& entry(std::string_view name) const;
  template <class Content>
  const Content& content(std::string_view name) const;

  std::string module_;
  std::string config_name_;
  Entries entries_;
};

/// Hash of the options that must be equal on all ranks: names and values, 32 hexadecimal digits.
std::string must_match_hash(const Config& config);

}  // namespace titan::config
