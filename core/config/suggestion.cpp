#include "core/config/suggestion.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace titan::config {

namespace {

constexpr std::size_t kMostNames = 3;

std::string did_you_mean(const std::vector<std::string>& names) {
  return names.empty() ? std::string() : concat("; did you mean ", join(names, " or "), "?");
}

/// Options whose last part is exactly the word: `--steps` means `--training.steps` or `--validator.steps`.
std::vector<std::string> with_key(const std::vector<std::string>& names, std::string_view key) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (key_of(name) == key && found.size() < kMostNames) found.push_back(name);
  }
  return found;
}

std::vector<std::string> visible_names(const Registry& registry, std::string_view module) {
  std::vector<std::string> names;
  for (const Option* option : registry.options(module)) {
    if (option->hidden) continue;
    names.push_back(option->name);
    if (option->type != Type::boolean) continue;
    const std::string_view section = section_of(option->name);
    names.push_back(concat(section, section.empty() ? "" : ".", "no_", key_of(option->name)));
  }
  return names;
}

std::string owner_of_model_option(const Registry& registry, std::string_view name) {
  for (const std::string& module : registry.modules()) {
    if (registry.find(name, module) != nullptr) return module;
  }
  return {};
}

struct Renamed {
  std::string_view before, now;
};

/// Names that torchtitan has or had for what is called otherwise here.
constexpr std::array<Renamed, 4> kOfTorchtitan{
    {{"training.seed", "debug.seed"},
     {"training.deterministic", "debug.deterministic"},
     {"training.seq_len", "training.max_context_length"},
     {"training.local_batch_size", "training.num_tokens_per_microbatch_per_dp_rank"}}};

/// Nothing where the name is none of those, or the registry has no such option.
std::string_view name_now(const Registry& registry, std::string_view module, std::string_view name) {
  const auto* const found =
      std::find_if(kOfTorchtitan.begin(), kOfTorchtitan.end(), [&](const Renamed& one) { return one.before == name; });
  const bool is_known = found != kOfTorchtitan.end() && registry.find(found->now, module) != nullptr;
  return is_known ? found->now : std::string_view();
}

}  // namespace

std::string option_hint(const Registry& registry, std::string_view module, std::string_view name,
                        std::string_view dashes) {
  if (const std::string_view now = name_now(registry, module, name); !now.empty()) {
    return concat("; here it is called ", dashes, now);
  }
  const std::vector<std::string> names = visible_names(registry, module);
  const std::string near = nearest(name, names);
  std::vector<std::string> found = near.empty() ? with_key(names, key_of(name)) : std::vector<std::string>{near};
  for (std::string& candidate : found) candidate = concat(dashes, candidate);
  if (!found.empty()) return did_you_mean(found);
  if (const std::string owner = owner_of_model_option(registry, name); !owner.empty()) {
    return concat("; it belongs to module ", owner, module.empty() ? ", and no module is selected" : "");
  }
  return {};
}

std::string flag_hint(const Registry& registry, const Verb& verb, std::string_view name) {
  std::vector<std::string> names;
  for (const Flag& flag : verb.flags) names.push_back(flag.name);
  if (const std::string near = nearest(name, names); !near.empty()) return did_you_mean({concat("--", near)});
  for (const Verb& other : registry.verbs()) {
    const bool has = std::ranges::any_of(other.flags, [&](const Flag& flag) { return flag.name == name; });
    if (has) return concat("; it is a flag of `titan ", other.name, "`");
  }
  return {};
}

std::string section_hint(const Registry& registry, std::string_view module, std::string_view section) {
  std::vector<std::string> names;
  for (const Option* option : registry.options(module)) names.emplace_back(section_of(option->name));
  std::erase_if(names, [](const std::string& name) { return name.empty(); });
  const std::string near = nearest(section, names);
  return near.empty() ? std::string() : did_you_mean({concat("[", near, "]")});
}

std::string list_hint(std::string_view word, std::vector<std::string> names) {
  if (names.empty()) return "; there are none";
  const std::string near = nearest(word, names);
  if (near.empty()) return concat("; there are: ", join(names, ", "));
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) { return name == near; });
  return concat(did_you_mean({near}), " There are: ", join(names, ", "));
}

}  // namespace titan::config
