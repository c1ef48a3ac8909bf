#include "core/nn/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/tensor/vector.hpp"

namespace titan::nn {
namespace {

// Coefficients of AS 241 (PPND16), lowest power first.
constexpr double kCentralTop[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double kCentralBottom[] = {1.0,
                                     4.2313330701600911252e+1,
                                     6.8718700749205790830e+2,
                                     5.3941960214247511077e+3,
                                     2.1213794301586595867e+4,
                                     3.9307895800092710610e+4,
                                     2.8729085735721942674e+4,
                                     5.2264952788528545610e+3};
constexpr double kMiddleTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                 3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kMiddleBottom[] = {1.0,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
constexpr double kFarTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                              2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kFarBottom[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};

// Up to this distance from 1/2, where 85 in 100 draws lie, neither logarithm nor root is needed.
constexpr double kCentral = 0.425;
// Depth up to which the middle polynomials hold, where all but three in 10^11 draws lie.
constexpr double kMiddle = 5;

TITAN_INLINE double polynomial(const double (&coefficients)[8], double x) {
  double sum = coefficients[7];
  for (std::size_t i = 7; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

TITAN_INLINE double central(double q) {
  const double r = kCentral * kCentral - q * q;
  return q * polynomial(kCentralTop, r) / polynomial(kCentralBottom, r);
}

TITAN_INLINE double middle(double r) { return polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6); }

/// What the polynomials of both tails take.
double depth(double p) { return std::sqrt(-std::log(std::min(p, 1 - p))); }

double far(double r) { return polynomial(kFarTop, r - 5) / polynomial(kFarBottom, r - 5); }

double tail(double p) {
  const double r = depth(p), x = r <= kMiddle ? middle(r) : far(r);
  return p < 0.5 ? -x : x;
}

TITAN_VECTOR_CLONES void centrals(const double* p, double* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = central(p[i] - 0.5);
}

TITAN_VECTOR_CLONES void middles(const double* depths, double* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = middle(depths[i]);
}

/// Writes to `outside` the indices of values that are not central, in order; returns their number.
std::size_t find_tails(std::span<const double> p, std::uint16_t* outside) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    outside[count] = static_cast<std::uint16_t>(i);
    count += std::abs(p[i] - 0.5) <= kCentral ? 0 : 1;
  }
  return count;
}

}  // namespace

TITAN_VECTOR_CLONES void uniforms(std::uint64_t key, std::uint64_t first, std::span<double> out) {
  double* to = out.data();
  const std::uint64_t count = out.size();
  for (std::uint64_t i = 0; i < count; ++i) to[i] = uniform(key, first + i);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double inverse_normal_cdf(double p) { return std::abs(p - 0.5) <= kCentral ? central(p - 0.5) : tail(p); }

void inverse_normal_cdf(std::span<double> p) {
  constexpr std::size_t kBlock = 512;
  std::array<double, kBlock> out, depths, tails;
  std::array<std::uint16_t, kBlock + 1> outside;
  for (std::size_t begin = 0; begin < p.size(); begin += kBlock) {
    const auto block = p.subspan(begin, std::min(kBlock, p.size() - begin));
    centrals(block.data(), out.data(), static_cast<std::int64_t>(block.size()));
    // One value in seven is a tail: gathered, they need no branch that would often be guessed wrong.
    const std::size_t count = find_tails(block, outside.data());
    for (std::size_t i = 0; i < count; ++i) depths[i] = depth(block[outside[i]]);
    middles(depths.data(), tails.data(), static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const double x = depths[i] <= kMiddle ? tails[i] : far(depths[i]);
      out[outside[i]] = block[outside[i]] < 0.5 ? -x : x;
    }
    std::copy_n(out.begin(), block.size(), block.begin());
  }
}

}  // namespace titan::nn
