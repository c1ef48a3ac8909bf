#include "core/base/hashing.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>

#include "core/base/error.hpp"
#include "core/base/files.hpp"

namespace titan {

namespace {

std::string hexadecimal(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : canonical.digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0x0FU];
  }
  return out;
}

}  // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string hash128(std::string_view bytes) { return hexadecimal(XXH3_128bits(bytes.data(), bytes.size())); }

std::string hash128_file(const std::filesystem::path& path) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), &XXH3_freeState);
  if (state == nullptr) throw ResourceError("[hashing] out of memory: state of a hash");
  XXH3_128bits_reset(state.get());
  read_file_in_pieces(path,
                      [&](std::string_view piece) { XXH3_128bits_update(state.get(), piece.data(), piece.size()); });
  return hexadecimal(XXH3_128bits_digest(state.get()));
}

}  // namespace titan
