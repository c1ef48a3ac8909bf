#pragma once

#include <cstdint>

namespace titan::cli {

/// What the rehearsal of a file in configs/ may cost, on two cores.
struct LayoutLimits {
  const char* file;
  /// Calls of libtorch's operators, of all rehearsed ranks together.
  std::int64_t operators;
  /// MiB that the process may have in memory at once: about a quarter above what it was when the row was written.
  std::int64_t memory_mib;
};

/// One row for each file.
inline constexpr LayoutLimits kLayoutLimits[] = {
    {"llama3/405b_fsdp32_cp2_tp8_pp8_4096.toml", 6'610'551, 740},
    {"llama3/405b_fsdp4_cp2_tp8_pp8_512.toml", 2'566'150, 760},
    {"llama3/405b_fsdp64_tp8_512.toml", 285'324, 240},
    {"llama3/405b_fsdp64_tp8_pp8_4096.toml", 2'974'666, 380},
    {"llama3/405b_fsdp8_tp8_pp8_512.toml", 1'889'499, 380},
    {"llama3/405b_fsdp8_tp8_pp8_interleaved_512.toml", 1'890'819, 380},
    {"llama3/405b_hsdp4x8_cp2_tp8_pp8_4096.toml", 2'243'590, 560},
    {"llama3/70b_fsdp16_tp8_128.toml", 134'355, 220},
    {"llama3/70b_fsdp32_tp8_256.toml", 255'315, 220},
    {"llama3/70b_fsdp4_cp4_tp8_pp4_512.toml", 3'879'876, 680},
    {"llama3/70b_fsdp8_tp8_pp4_256.toml", 994'745, 270},
    {"llama3/8b_cp8_8.toml", 557'608, 2290},
    {"llama3/8b_fsdp128_128.toml", 30'247, 210},
    {"llama3/8b_fsdp2_cp4_8.toml", 199'444, 1190},
    {"llama3/8b_fsdp8_8.toml", 30'247, 210},
    {"llama3/8b_hsdp16x8_128.toml", 29'911, 210},
    {"llama3/8b_one_device.toml", 205'046, 200},
    {"llama3/debugmodel_cpu.toml", 3'142, 170},
    {"llama3/debugmodel_cpu_fp32.toml", 8'149, 180},
    {"llama3/debugmodel_hsdp_cp_pp_cpu.toml", 20'122, 180},
    {"llama3/debugmodel_hsdp_tp_cpu.toml", 11'697, 180},
    {"llama3/parity_cpu.toml", 4'846, 180},
    {"qwen3/debugmodel_moe_cpu.toml", 5'283, 180},
    {"qwen3/parity_moe_cpu.toml", 13'071, 180},
};

}  // namespace titan::cli
