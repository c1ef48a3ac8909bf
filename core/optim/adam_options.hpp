#pragma once

#include <string_view>

namespace titan::optim {

enum class Algorithm { adam, adamw };
enum class Implementation { fused, for_loop };

/// Reads "Adam" or "AdamW"; `option` names where the text stands. ConfigError lists the names.
Algorithm parse_algorithm(std::string_view option, std::string_view text);
/// Reads "fused" or "for-loop". ConfigError lists the choices.
Implementation parse_implementation(std::string_view text);
/// "Adam" or "AdamW".
std::string_view name(Algorithm algorithm);

/// The hyper-parameters of one parameter group. `lr` is the base rate, before the schedule's factor.
struct AdamOptions {
  Algorithm algorithm = Algorithm::adamw;
  double lr = 8e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
};

/// Checks the ranges. ConfigError names `section` and the field: "optimizer.lr must be at least 0: -1".
void validate(std::string_view section, const AdamOptions& options);

}  // namespace titan::optim
