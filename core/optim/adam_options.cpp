#include "core/optim/adam_options.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::optim {
namespace {

void require(bool holds, std::string_view section, std::string_view field, std::string_view range, double value) {
  if (!holds) throw ConfigError("[optim] ", section, ".", field, " must be ", range, ": ", value);
}

}  // namespace

Algorithm parse_algorithm(std::string_view option, std::string_view text) {
  if (text == "Adam") return Algorithm::adam;
  if (text == "AdamW") return Algorithm::adamw;
  throw ConfigError("[optim] ", option, " names no known optimizer: ", printable(text), " (known: Adam, AdamW)");
}

Implementation parse_implementation(std::string_view text) {
  if (text == "fused") return Implementation::fused;
  if (text == "for-loop") return Implementation::for_loop;
  throw ConfigError("[optim] optimizer.implementation must be fused or for-loop: ", printable(text));
}

std::string_view name(Algorithm algorithm) { return algorithm == Algorithm::adam ? "Adam" : "AdamW"; }

void validate(std::string_view section, const AdamOptions& options) {
  const auto not_negative = [&](std::string_view field, double value) {
    require(value >= 0 && std::isfinite(value), section, field, "at least 0 and finite", value);
  };
  const auto below_one = [&](std::string_view field, double value) {
    require(value >= 0 && value < 1, section, field, "at least 0 and below 1", value);
  };
  not_negative("lr", options.lr);
  below_one("beta1", options.beta1);
  below_one("beta2", options.beta2);
  not_negative("eps", options.eps);
  not_negative("weight_decay", options.weight_decay);
}

}  // namespace titan::optim
