#include "core/nn/kernels/attention/levels.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::nn::kernels {
namespace {

#ifdef TITAN_ATTENTION_X86
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif

struct Known {
  const AttentionLevel* level;
  bool (*is_supported)();
};

// The questions stand here, where nothing is compiled for more than any processor has.
constexpr Known kKnown[] = {
#ifdef TITAN_ATTENTION_X86
    {&kAttentionAvx512Bf16, [] { return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0; }},
    {&kAttentionAvx512, [] { return has_avx512(); }},
    {&kAttentionAvx2, [] { return has_avx2(); }},
#endif
    {&kAttentionPortable, [] { return true; }},
};

const AttentionLevel& best_level(std::string_view asked) {
  std::vector<std::string> allowed;
  for (const Known& known : kKnown) {
    if (!known.is_supported()) continue;
    if (asked.empty() || asked == known.level->name) return *known.level;
    allowed.emplace_back(known.level->name);
  }
  throw ConfigError("[environment] TITAN_CPU_CAPABILITY is none of this processor's: ", printable(asked),
                    ", allowed: ", join(allowed, ", "));
}

}  // namespace

std::span<const AttentionLevel* const> attention_levels() {
  static const std::vector<const AttentionLevel*> kLevels = [] {
    std::vector<const AttentionLevel*> levels;
    for (const Known& known : kKnown) levels.push_back(known.level);
    return levels;
  }();
  return kLevels;
}

bool is_supported(const AttentionLevel& level) {
  const auto* known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.level == &level; });
  return known != std::end(kKnown) && known->is_supported();
}

const AttentionLevel& attention_level() {
  static const AttentionLevel& kLevel = [&]() -> const AttentionLevel& {
    const char* asked = std::getenv("TITAN_CPU_CAPABILITY");
    return best_level(asked == nullptr ? "" : asked);
  }();
  return kLevel;
}

}  // namespace titan::nn::kernels
