#include "core/nn/kernels/attention/levels.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/tensor/processor.hpp"

namespace titan::nn::kernels {
namespace {

struct Known {
  const AttentionLevel* level;
  bool (*is_supported)();
  bool (*is_worth_it)();
};

bool always() { return true; }

// The questions stand here, where nothing is compiled for more than any processor has.
constexpr Known kKnown[] = {
#ifdef TITAN_ATTENTION_X86
    {&kAttentionAvx512Bf16, tensor::has_avx512_bf16, [] { return !tensor::has_slow_bf16_pairs(); }},
    {&kAttentionAvx512, tensor::has_avx512, always},
    {&kAttentionAvx2, tensor::has_avx2, always},
#endif
    {&kAttentionPortable, always, always},
};

const AttentionLevel& best_level(std::string_view asked) {
  std::vector<std::string> allowed;
  for (const Known& known : kKnown) {
    if (!known.is_supported()) continue;
    if (asked.empty() ? known.is_worth_it() : asked == known.level->name) return *known.level;
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
