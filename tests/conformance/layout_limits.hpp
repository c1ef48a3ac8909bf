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
    {"llama3/405b_fsdp32_cp2_tp8_pp8_4096.toml", 7'076'436, 740},
    {"llama3/405b_fsdp4_cp2_tp8_pp8_512.toml", 2'729'380, 760},
    {"llama3/405b_fsdp64_tp8_512.toml", 308'280, 240},
    {"llama3/405b_fsdp64_tp8_pp8_4096.toml", 3'321'544, 380},
    {"llama3/405b_fsdp8_tp8_pp8_512.toml", 2'062'938, 380},
    {"llama3/405b_fsdp8_tp8_pp8_interleaved_512.toml", 2'064'258, 380},
    {"llama3/405b_hsdp4x8_cp2_tp8_pp8_4096.toml", 2'406'820, 560},
    {"llama3/70b_fsdp16_tp8_128.toml", 141'647, 220},
    {"llama3/70b_fsdp32_tp8_256.toml", 266'945, 220},
    {"llama3/70b_fsdp4_cp4_tp8_pp4_512.toml", 4'041'256, 680},
    {"llama3/70b_fsdp8_tp8_pp4_256.toml", 1'106'226, 270},
    {"llama3/8b_cp8_8.toml", 580'904, 2290},
    {"llama3/8b_fsdp128_128.toml", 33'159, 210},
    {"llama3/8b_fsdp2_cp4_8.toml", 209'364, 1190},
    {"llama3/8b_fsdp8_8.toml", 33'159, 210},
    {"llama3/8b_hsdp16x8_128.toml", 32'823, 210},
    {"llama3/8b_one_device.toml", 250'642, 200},
    {"llama3/debugmodel_cpu.toml", 3'646, 170},
    {"llama3/debugmodel_cpu_fp32.toml", 10'193, 180},
    {"llama3/debugmodel_hsdp_cp_pp_cpu.toml", 22'186, 180},
    {"llama3/debugmodel_hsdp_tp_cpu.toml", 12'729, 180},
    {"llama3/parity_cpu.toml", 5'530, 180},
    {"qwen3/debugmodel_moe_cpu.toml", 5'631, 180},
    {"qwen3/parity_moe_cpu.toml", 13'677, 180},
};

}  // namespace titan::cli
