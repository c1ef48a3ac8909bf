#include "core/config/sources.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/files.hpp"

namespace titan::config {

namespace {

constexpr std::size_t kMostFiles = 16;
constexpr std::uint64_t kMostHubBytes = std::uint64_t{1} << 20U;

const TomlMember* find_member(const TomlTable& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &TomlMember::key);
  return found != table.end() ? &*found : nullptr;
}

/// Follows the chain from the file that is named on the command line to the preset or hub file at its root.
class ChainReader {
 public:
  ChainReader(std::string module, Problems& problems) : problems_(problems) { out_.module = std::move(module); }

  Sources read(const std::string& config) {
    std::filesystem::path name = config;
    place_ = "--config";
    while (!name.empty() && name.extension() == ".toml") {
      if (!read_file_of_chain(name)) break;
      name = base_of_last_file(name);
    }
    if (name.extension() == ".json") {
      out_.hub_file = name.string();
      out_.hub_text = titan::read_file(name, kMostHubBytes);
    } else if (name.extension() != ".toml") {
      out_.preset = name.string();
      out_.preset_place = place_;
    }
    std::ranges::reverse(out_.files);
    return std::move(out_);
  }

 private:
  /// False when the chain ends here, because it is broken.
  bool read_file_of_chain(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::filesystem::path identity = std::filesystem::weakly_canonical(path, ignored);
    if (std::ranges::find(seen_, identity) != seen_.end() || seen_.size() == kMostFiles) {
      const std::string why =
          seen_.size() == kMostFiles ? "too many files stand on each other" : "file is its own base";
      problems_.add_value(concat(place_, ": ", why, ": ", printable(path.string())));
      return false;
    }
    seen_.push_back(identity);
    try {
      out_.files.push_back({path.string(), read_toml_file(path)});
    } catch (const ConfigError& error) {
      problems_.add_value(error.what());
      return false;
    }
    return true;
  }

  /// What the last file read names as its base; its module counts unless one nearer to the command line named one.
  std::filesystem::path base_of_last_file(const std::filesystem::path& path) {
    const std::string module = text_of("module");
    if (out_.module.empty()) out_.module = module;
    const std::filesystem::path base = text_of("config");
    const bool is_file = base.extension() == ".toml" || base.extension() == ".json";
    return is_file ? (path.parent_path() / base).lexically_normal() : base;
  }

  std::string text_of(std::string_view key) {
    const SourceFile& file = out_.files.back();
    const TomlMember* member = find_member(file.root, key);
    if (member == nullptr) return {};
    const TextPosition& at = member->position;
    place_ = concat(printable(file.name), ":", at.line, ":", at.column, ": ", key);
    if (const auto* text = std::get_if<std::string>(&member->value.content)) return *text;
    problems_.add_value(concat(place_, ": expected a text"));
    return {};
  }

  Problems& problems_;
  Sources out_;
  std::string place_;
  std::vector<std::filesystem::path> seen_;
};

}  // namespace

Sources read_sources(const std::string& module, const std::string& config, Problems& problems) {
  return ChainReader(module, problems).read(config);
}

}  // namespace titan::config
