#include "core/base/hashing_avx2.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace titan::avx2 {

void update_hash(void* state, const void* bytes, std::size_t size) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}

void hash128(const void* bytes, std::size_t size, std::uint64_t& low, std::uint64_t& high) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  low = hash.low64;
  high = hash.high64;
}

}  // namespace titan::avx2
