#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "core/checkpoint/input_file.hpp"

namespace titan::checkpoint {

/// The hash that a whole file must have where its blocks have none. Remembers that it was found right, so that whoever
/// reads a file in pieces hashes it once. [any thread]
class WholeHash {
 public:
  /// As ManifestFile::hash.
  explicit WholeHash(std::string hash) : hash_(std::move(hash)) {}

  bool was_right() const;
  /// Hashes the file, unless it was right before. `done` is told after each piece how many bytes it had. DataError
  /// names the file: damaged.
  void require(const InputFile& file, const std::function<void(std::uint64_t bytes)>& done) const;

 private:
  std::string hash_;
  mutable std::mutex mutex_;
  mutable bool was_right_ = false;
};

}  // namespace titan::checkpoint
