#include "core/plugin/facts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::string_view kIdCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::string_view kVersionCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-";

template <class... Parts>
[[noreturn]] void refuse(const Parts&... reason) {
  throw LoadProblem(Exit::internal, concat(reason...), "correct the plugin");
}

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == text.npos;
}

bool is_version(const std::string& text) {
  const std::string numbers = text.substr(0, text.find_first_of("-+"));
  const std::vector<std::string> parts = split(numbers, '.');
  return consists_of(text, kVersionCharacters) && parts.size() == 3 &&
         std::all_of(parts.begin(), parts.end(), [](const auto& part) { return consists_of(part, kDigits); });
}

bool is_interface_id(const std::string& text) {
  const auto slash = text.find('/');
  return slash != std::string::npos && consists_of(std::string_view(text).substr(0, slash), kIdCharacters) &&
         consists_of(std::string_view(text).substr(slash + 1), kDigits);
}

void check_identity(const Facts& facts) {
  if (!consists_of(facts.name, kNameCharacters) || facts.name.size() > kMaxName) {
    refuse("its name is not 1 to ", kMaxName, " characters of [a-z0-9_]: ", facts.name);
  }
  if (!consists_of(facts.id, kIdCharacters) || facts.id.find('.') == std::string::npos) {
    refuse("its id is not a reverse URI (org.example.name): ", facts.id);
  }
  if (!is_version(facts.version)) refuse("its version is not semantic (1.2.3): ", facts.version);
  if (facts.license.empty()) refuse("it states no license");
}

void check_interfaces(const Facts& facts) {
  std::set<std::string_view> seen;
  for (const auto& id : facts.provides) {
    if (!is_interface_id(id)) refuse("an interface id is not NAME/NUMBER: ", id);
    if (!seen.insert(id).second) refuse("it provides an interface twice: ", id);
  }
}

void check_options(const Facts& facts) {
  std::set<std::string_view> seen;
  for (const auto& option : facts.options) {
    if (!seen.insert(option.name).second) refuse("it declares an option twice: ", option.name);
  }
}

using Bases = std::map<std::string_view, std::string_view>;

void check_base(const Bases& bases, std::string_view preset) {
  std::set<std::string_view> path{preset};
  for (std::string_view base = bases.at(preset); !base.empty(); base = bases.at(base)) {
    if (!bases.contains(base)) refuse("preset ", preset, " has an unknown base: ", base);
    if (!path.insert(base).second) refuse("preset ", preset, " is based on itself, through ", base);
  }
}

void check_presets(const Facts& facts) {
  Bases bases;
  for (const auto& preset : facts.presets) {
    if (preset.name.empty()) refuse("a preset has no name");
    if (!bases.emplace(preset.name, preset.base).second) refuse("it declares a preset twice: ", preset.name);
    std::set<std::string_view> seen;
    for (const auto& setting : preset.settings) {
      if (!seen.insert(setting.name).second) refuse("preset ", preset.name, " sets an option twice: ", setting.name);
    }
  }
  for (const auto& entry : bases) check_base(bases, entry.first);
}

}  // namespace

bool Facts::provides_interface(std::string_view interface_id) const {
  return std::find(provides.begin(), provides.end(), interface_id) != provides.end();
}

void check_facts(const Facts& facts) {
  check_identity(facts);
  check_interfaces(facts);
  check_options(facts);
  check_presets(facts);
}

}  // namespace titan::plugin
