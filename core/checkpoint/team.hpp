#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan::checkpoint {

/// The ranks that save and load together. Calls are collective, and made on the training thread alone.
class Team {
 public:
  virtual ~Team() = default;
  virtual std::int64_t rank() const = 0;
  virtual std::int64_t size() const = 0;
  /// Every rank's text, by rank. Throws, on all that still live, when a rank is lost.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
};

/// A single rank.
class Alone final : public Team {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return 1; }
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
};

}  // namespace titan::checkpoint
