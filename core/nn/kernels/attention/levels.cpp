#include "core/nn/kernels/attention/levels.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::nn::kernels {
namespace {

constexpr const AttentionLevel* kLevels[] = {
#ifdef TITAN_ATTENTION_X86
    &kAttentionAvx512Bf16,
    &kAttentionAvx512,
    &kAttentionAvx2,
#endif
    &kAttentionPortable,
};

const AttentionLevel& best_level(std::string_view asked) {
  std::vector<std::string> allowed;
  for (const AttentionLevel* level : kLevels) {
    if (!level->is_supported()) continue;
    if (asked.empty() || asked == level->name) return *level;
    allowed.emplace_back(level->name);
  }
  throw ConfigError("[environment] TITAN_CPU_CAPABILITY is none of this processor's: ", printable(asked),
                    ", allowed: ", join(allowed, ", "));
}

}  // namespace

std::span<const AttentionLevel* const> attention_levels() { return kLevels; }

const AttentionLevel& attention_level() {
  static const AttentionLevel& kLevel = [&]() -> const AttentionLevel& {
    const char* asked = std::getenv("TITAN_CPU_CAPABILITY");
    return best_level(asked == nullptr ? "" : asked);
  }();
  return kLevel;
}

}  // namespace titan::nn::kernels
