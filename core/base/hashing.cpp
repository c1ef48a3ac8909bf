#include "core/base/hashing.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hashing_avx2.hpp"

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

#ifdef TITAN_HASHING_AVX2
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

}  // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string hash128(std::string_view bytes) {
#ifdef TITAN_HASHING_AVX2
  if (has_avx2()) {
    XXH128_hash_t hash;
    avx2::hash128(bytes.data(), bytes.size(), hash.low64, hash.high64);
    return hexadecimal(hash);
  }
#endif
  return hexadecimal(XXH3_128bits(bytes.data(), bytes.size()));
}

// XXH3_state_t is aligned to 64 bytes, which `new` keeps.
struct Hash128::State {
  XXH3_state_t xxh3;
};

Hash128::Hash128() : state_(new (std::nothrow) State) {
  if (state_ == nullptr) throw ResourceError("[hashing] out of memory: state of a hash");
  XXH3_INITSTATE(&state_->xxh3);
  reset();
}

Hash128::~Hash128() = default;
Hash128::Hash128(Hash128&& other) noexcept = default;
Hash128& Hash128::operator=(Hash128&& other) noexcept = default;

void Hash128::update(std::span<const std::byte> bytes) {
#ifdef TITAN_HASHING_AVX2
  if (has_avx2()) return avx2::update_hash(&state_->xxh3, bytes.data(), bytes.size());
#endif
  XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::string Hash128::digest() const { return hexadecimal(XXH3_128bits_digest(&state_->xxh3)); }

void Hash128::reset() { XXH3_128bits_reset(&state_->xxh3); }

std::string hash128_file(const std::filesystem::path& path) {
  Hash128 hash;
  read_file_in_pieces(path, [&](std::string_view piece) { hash.update(std::as_bytes(std::span(piece))); });
  return hash.digest();
}

}  // namespace titan
