#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace titan {

/// XXH3 of the bytes, 64 bits.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

/// XXH3 of the bytes, 128 bits, as 32 hexadecimal digits.
std::string hash128(std::string_view bytes);

/// hash128 of bytes that come in pieces.
class Hash128 {
 public:
  /// ResourceError when there is no memory for the state.
  Hash128();
  ~Hash128();
  Hash128(Hash128&& other) noexcept;
  Hash128& operator=(Hash128&& other) noexcept;

  void update(std::span<const std::byte> bytes);
  /// The hash of all bytes so far; more may follow.
  std::string digest() const;
  /// Begins anew, as if there had been no bytes.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// hash128 of a file's content, streamed. InputError when it cannot be read.
std::string hash128_file(const std::filesystem::path& path);

}  // namespace titan
