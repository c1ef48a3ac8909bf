#pragma once

#include <cstdint>
#include <span>

namespace titan::nn {

/// Scrambles 64 bits (the finaliser of splitmix64): a bijection whose output bits each depend on all input bits.
constexpr std::uint64_t scramble(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// Draw number `index` of the stream `key`: uniform in (0, 1), never an end. A pure function.
constexpr double uniform(std::uint64_t key, std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
  const std::uint64_t bits = scramble(key + (index + 1) * kGolden);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

/// Draws number `first` and on of the stream.
void uniforms(std::uint64_t key, std::uint64_t first, std::span<double> out);

/// The cumulative distribution of the standard normal.
double normal_cdf(double x);

/// Its inverse for 0 < p < 1, to about 16 digits (Wichura's algorithm AS 241).
double inverse_normal_cdf(double p);
/// The same in place, many at once: bit for bit what it gives one by one, whatever the processor.
void inverse_normal_cdf(std::span<double> p);

}  // namespace titan::nn
