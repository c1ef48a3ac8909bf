#include "core/app/compare/stored_settings.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/base/text.hpp"
#include "core/config/toml_reader.hpp"

namespace titan::app {
namespace {

constexpr std::array<std::string_view, 2> kOtherSections = {"comm.", "metrics."};

std::string text_of(const config::TomlNode& node);

std::string text_of(const config::TomlArray& array) {
  std::vector<std::string> items;
  for (const config::TomlNode& item : array) items.push_back(text_of(item));
  return concat("[", join(items, ", "), "]");
}

std::string text_of(const config::TomlTable& table) {
  std::vector<std::string> items;
  for (const config::TomlMember& member : table) items.push_back(concat(member.key, " = ", text_of(member.value)));
  return concat("{", join(items, ", "), "}");
}

struct Text {
  std::string operator()(bool value) const { return concat(value); }
  std::string operator()(std::int64_t value) const { return concat(value); }
  std::string operator()(double value) const { return concat(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const config::TomlDate&) const { return "(a date)"; }
  std::string operator()(const config::TomlArray& value) const { return text_of(value); }
  std::string operator()(const config::TomlTable& value) const { return text_of(value); }
};

std::string text_of(const config::TomlNode& node) { return std::visit(Text{}, node.content); }

// Sections may hold sections: read_toml() bounds the depth.
void flatten(const config::TomlTable& table, const std::string& prefix, Settings& settings) {
  for (const config::TomlMember& member : table) {
    const std::string name = concat(prefix, member.key);
    if (const auto* section = std::get_if<config::TomlTable>(&member.value.content); section != nullptr) {
      flatten(*section, name + ".", settings);
    } else {
      settings[name] = text_of(member.value);
    }
  }
}

}  // namespace

Settings read_settings(const std::filesystem::path& file) {
  Settings settings;
  flatten(config::read_toml_file(file), "", settings);
  return settings;
}

Settings settings_that_matter(const Settings& settings, const config::Registry& registry) {
  std::set<std::string, std::less<>> left_out;
  for (const config::Option* option : registry.options()) {
    if (!option->must_match) left_out.insert(option->name);
  }
  Settings kept = settings;
  std::erase_if(kept, [&](const auto& setting) {
    const auto begins = [&](std::string_view section) { return setting.first.starts_with(section); };
    return left_out.contains(setting.first) || std::ranges::any_of(kOtherSections, begins);
  });
  return kept;
}

std::vector<SettingDifference> differences(const Settings& a, const Settings& b) {
  std::vector<SettingDifference> found;
  if (a.empty() || b.empty()) return found;
  Settings names = a;
  names.insert(b.begin(), b.end());
  const auto value = [](const Settings& settings, const std::string& name) {
    const auto entry = settings.find(name);
    return entry == settings.end() ? std::string() : entry->second;
  };
  for (const auto& [name, ignored] : names) {
    if (value(a, name) != value(b, name)) found.push_back({name, value(a, name), value(b, name)});
  }
  return found;
}

}  // namespace titan::app
