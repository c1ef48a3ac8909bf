#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::rehearsal {

/// What a cluster's machines can do. Bandwidths are of one direction. Efficiencies are stated, not fitted to
/// measurements: the part of a peak that large kernels and transfers are taken to reach.
struct Hardware {
  std::string name;                 // "h100", or the file
  double peak_flops = 0;            // FLOP/s of dense bf16 products, of one GPU
  double memory_bytes = 0;          // of one GPU, as its driver tells
  double nvlink_bandwidth = 0;      // bytes/s of one GPU to the others of its node
  double network_bandwidth = 0;     // bytes/s of one GPU's share of its node's network cards
  double nvlink_latency = 0;        // seconds of a ring's step inside a node
  double network_latency = 0;       // seconds of a ring's step between nodes
  std::int64_t gpus_per_node = 8;   // consecutive ranks
  double compute_efficiency = 1;    // of peak_flops
  double bandwidth_efficiency = 1;  // of both bandwidths
  std::string source;               // where the figures are from, for a person
};

/// Names of the built-in ones: "h100", "h200".
std::vector<std::string> known_hardware();

/// The built-in hardware of that name, or what the TOML file of that path says: keys `peak_tflops`, `memory_gib`,
/// `nvlink_gb_per_s`, `network_gb_per_s` (10^9 bytes), `nvlink_latency_us`, `network_latency_us`, `gpus_per_node`,
/// `compute_efficiency`, `bandwidth_efficiency` and `source`. With `base = "h100"` a file says only what differs, else
/// all but `source`. ConfigError with the place of each wrong key and value; InputError for a file that cannot be read;
/// ConfigError with the names for a word that is neither a name nor a file.
Hardware find_hardware(std::string_view name_or_path);

/// Reads such a text. `name` stands for it in messages.
Hardware read_hardware(std::string_view text, std::string_view name);

}  // namespace titan::rehearsal
