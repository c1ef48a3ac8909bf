#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/optim/adam_options.hpp"

namespace titan::optim {

/// One entry of optimizer.param_groups: parameters whose name holds a match of `pattern` (as Python's re.search).
struct GroupRule {
  std::string pattern;
  AdamOptions options;
};

/// The parameters of one group, as indices into the names given, and what they are trained with.
struct GroupMembers {
  std::string pattern;  // empty: the parameters no pattern matched
  AdamOptions options;
  std::vector<std::size_t> members;
};

/// Reads optimizer.param_groups: a JSON array of {pattern, optimizer_name, optimizer_kwargs {lr, beta1, beta2, betas,
/// eps, weight_decay}}. What an entry leaves out comes from `defaults`. ConfigError names the entry and the field.
std::vector<GroupRule> parse_group_rules(std::string_view json, const AdamOptions& defaults);

/// Gives each name to the first rule whose pattern matches; the rest form a last group with `defaults`. ConfigError for
/// a malformed pattern, and for one that is left without parameters.
std::vector<GroupMembers> assign_groups(const std::vector<std::string>& names, const std::vector<GroupRule>& rules,
                                        const AdamOptions& defaults);

}  // namespace titan::optim
