#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace titan::config {

/// Collects everything that is wrong with a command line and its files, so that the user learns of all of it at once.
class Problems {
 public:
  /// An unknown or malformed flag.
  void add_usage(std::string message);
  /// A wrong value, an unknown key of a file, an unknown preset.
  void add_value(std::string message);

  bool empty() const { return count_ == 0; }
  /// False when further messages would be counted, but not shown.
  bool shows_more() const { return messages_.size() < kMostShown; }

  /// Throws one error with all messages, one a line: UsageError when a flag is among them, else ConfigError.
  void throw_if_any() const;

 private:
  static constexpr std::size_t kMostShown = 20;

  void add(std::string message);
  std::string summary() const;

  std::vector<std::string> messages_;
  std::size_t count_ = 0;
  bool usage_ = false;
};

}  // namespace titan::config
