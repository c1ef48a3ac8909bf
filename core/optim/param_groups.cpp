#include "core/optim/param_groups.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/optim/name_pattern.hpp"

namespace titan::optim {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxRules = 1000;

[[noreturn]] void unknown_key(const std::string& where, const std::string& key, const std::vector<std::string>& known) {
  const std::string near = nearest(key, known);
  throw ConfigError("[optim] ", where, " has an unknown key: ", printable(key),
                    near.empty() ? "" : concat(" (did you mean ", near, "?)"), " (known: ", join(known, ", "), ")");
}

void check_keys(const Json& table, const std::string& where, const std::vector<std::string>& known) {
  if (!table.is_object()) throw ConfigError("[optim] ", where, " must be a table");
  for (const auto& [key, value] : table.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown_key(where, key, known);
  }
}

double number(const Json& value, const std::string& where) {
  if (!value.is_number()) throw ConfigError("[optim] ", where, " must be a number: ", printable(value.dump()));
  return value.get<double>();
}

std::string text(const Json& value, const std::string& where) {
  if (!value.is_string()) throw ConfigError("[optim] ", where, " must be a text: ", printable(value.dump()));
  return value.get<std::string>();
}

void read_betas(const Json& kwargs, const std::string& where, AdamOptions& options) {
  const auto betas = kwargs.find("betas");
  if (betas == kwargs.end()) return;
  if (kwargs.contains("beta1") || kwargs.contains("beta2")) {
    throw ConfigError("[optim] ", where, " must have either betas or beta1 and beta2");
  }
  if (!betas->is_array() || betas->size() != 2) {
    throw ConfigError("[optim] ", where, ".betas must be two numbers: ", printable(betas->dump()));
  }
  options.beta1 = number((*betas)[0], where + ".betas");
  options.beta2 = number((*betas)[1], where + ".betas");
}

void read_kwargs(const Json& kwargs, const std::string& where, AdamOptions& options) {
  check_keys(kwargs, where, {"lr", "beta1", "beta2", "betas", "eps", "weight_decay"});
  const auto read = [&](const char* key, double& field) {
    const auto found = kwargs.find(key);
    if (found != kwargs.end()) field = number(*found, where + "." + key);
  };
  read("lr", options.lr);
  read("beta1", options.beta1);
  read("beta2", options.beta2);
  read("eps", options.eps);
  read("weight_decay", options.weight_decay);
  read_betas(kwargs, where, options);
  validate(where, options);
}

GroupRule read_rule(const Json& table, const std::string& where, const AdamOptions& defaults) {
  check_keys(table, where, {"pattern", "optimizer_name", "optimizer_kwargs"});
  const auto pattern = table.find("pattern");
  if (pattern == table.end()) throw ConfigError("[optim] ", where, " needs a pattern");
  GroupRule rule{text(*pattern, where + ".pattern"), defaults};
  if (const auto found = table.find("optimizer_name"); found != table.end()) {
    const std::string field = where + ".optimizer_name";
    rule.options.algorithm = parse_algorithm(field, text(*found, field));
  }
  if (const auto found = table.find("optimizer_kwargs"); found != table.end()) {
    read_kwargs(*found, where + ".optimizer_kwargs", rule.options);
  }
  return rule;
}

void require_members(const GroupMembers& group, bool matched_any) {
  if (!group.members.empty()) return;
  throw ConfigError("[optim] optimizer.param_groups has a pattern that ",
                    matched_any ? "is left without parameters, because earlier patterns match all of its own: '"
                                : "matches no parameter: '",
                    printable(group.pattern), "'");
}

}  // namespace

std::vector<GroupRule> parse_group_rules(std::string_view json, const AdamOptions& defaults) {
  const Json tables = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!tables.is_array()) throw ConfigError("[optim] optimizer.param_groups must be a list of tables");
  if (tables.size() > kMaxRules) {
    throw ConfigError("[optim] optimizer.param_groups has too many entries: ", tables.size(), " (at most ", kMaxRules,
                      ")");
  }
  std::vector<GroupRule> rules;
  for (const Json& table : tables) {
    rules.push_back(read_rule(table, concat("optimizer.param_groups[", rules.size(), "]"), defaults));
  }
  return rules;
}

std::vector<GroupMembers> assign_groups(const std::vector<std::string>& names, const std::vector<GroupRule>& rules,
                                        const AdamOptions& defaults) {
  std::vector<GroupMembers> groups;
  std::vector<bool> taken(names.size(), false);
  for (const GroupRule& rule : rules) {
    const NamePattern pattern(rule.pattern);
    GroupMembers group{rule.pattern, rule.options, {}};
    bool matched_any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!pattern.matches(names[i])) continue;
      matched_any = true;
      if (!taken[i]) group.members.push_back(i);
      taken[i] = true;
    }
    require_members(group, matched_any);
    groups.push_back(std::move(group));
  }
  GroupMembers rest{"", defaults, {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!taken[i]) rest.members.push_back(i);
  }
  if (!rest.members.empty()) groups.push_back(std::move(rest));
  return groups;
}

}  // namespace titan::optim
