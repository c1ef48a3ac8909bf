#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "titan/abi/all.h"

namespace titan::test {

/// A host for tests of plugin code: options with values, errors that are counted, logs and interfaces that are kept.
class FakeHost {
 public:
  FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const titan_host* table() const { return &table_; }

  struct Option {
    std::int32_t type = 0;
    std::uint32_t flags = 0;
    bool is_none = false;
    std::string text, help, metavar;
    std::vector<std::string> choices;
    double min = 0, max = 0;
  };
  struct Preset {
    std::string name, summary, base;
    std::vector<std::pair<std::string, std::string>> settings;
  };

  /// Collects what a plugin declares; each option gets its default. Throws std::runtime_error with an error's text.
  void declare(const titan_plugin_info& plugin);
  /// Declares one option of the host itself.
  void declare(const std::string& name, std::int32_t type, const std::string& text);
  /// Sets an option from text, "None" included. Throws std::out_of_range for an undeclared one.
  void set(const std::string& name, const std::string& text);
  /// Applies a preset after its bases. Settings of options that are not declared here are returned.
  std::vector<std::string> use_preset(std::string_view name);

  void offer(const std::string& id, const void* interface) { interfaces_[id] = interface; }

  const std::map<std::string, Option>& options() const { return options_; }
  const std::vector<Preset>& presets() const { return presets_; }
  const Preset& preset(std::string_view name) const;
  const std::vector<std::string>& provides() const { return provides_; }
  const std::vector<std::string>& log() const { return log_; }
  /// Errors made and not yet released.
  int live_errors() const { return live_errors_; }

  /// Takes an error object apart: "78: text", or "" for null.
  std::string take(titan_error* error) const;

 private:
  friend struct FakeHostCallbacks;
  void fill(const std::string& name, titan_config_value& out);

  titan_host table_{};
  std::map<std::string, Option> options_;
  std::vector<Preset> presets_;
  std::vector<std::string> provides_;
  std::map<std::string, const void*, std::less<>> interfaces_;
  std::vector<std::string> log_;
  std::deque<std::vector<titan_string>> lists_;  // of list values handed out
  std::deque<std::string> items_;
  mutable int live_errors_ = 0;
};

}  // namespace titan::test
