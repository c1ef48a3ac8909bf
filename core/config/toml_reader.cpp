#include "core/config/toml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <new>
#include <sstream>
#include <system_error>
#include <toml.hpp>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/config/toml_error.hpp"

namespace titan::config {

namespace {

/// Line and column of byte offsets, without counting from the beginning each time.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      begins_.push_back(at + 1);
    }
  }

  TextPosition position(std::size_t offset) const {
    const auto next = std::ranges::upper_bound(begins_, offset);
    return {static_cast<std::size_t>(next - begins_.begin()), offset - *std::prev(next) + 1};
  }

 private:
  std::vector<std::size_t> begins_{0};
};

/// Copies the library's values. Numbers are read again from the text: the library rounds what does not fit.
class Converter {
 public:
  Converter(std::string_view text, std::string_view source) : text_(text), source_(source), lines_(text) {}

  TomlTable table(const toml::value& value) const {
    TomlTable members;
    for (const auto& [key, member] : value.as_table()) {
      members.push_back({key, lines_.position(key_offset(member)), node(member)});
    }
    std::ranges::sort(members, {}, [](const TomlMember& m) { return std::pair(m.position.line, m.position.column); });
    return members;
  }

 private:
  static const toml::detail::region* region(const toml::value& value) {
    return dynamic_cast<const toml::detail::region*>(toml::detail::get_region(value));
  }

  static std::size_t offset(const toml::value& value) {
    const toml::detail::region* where = region(value);
    return where == nullptr ? 0 : static_cast<std::size_t>(where->first() - where->begin());
  }

  /// Where the key of `key = value` begins; tables with a header or a dotted key begin there themselves.
  std::size_t key_offset(const toml::value& value) const {
    const std::size_t begin = offset(value);
    const std::size_t sign = text_.substr(0, begin).find_last_not_of(" \t");
    if (sign == std::string_view::npos || text_[sign] != '=') return begin;
    const std::size_t before = text_.substr(0, sign).find_last_of("\n{,");
    return text_.find_first_not_of(" \t", before == std::string_view::npos ? 0 : before + 1);
  }

  TomlNode node(const toml::value& value) const { return {content(value), lines_.position(offset(value))}; }

  decltype(TomlNode::content) content(const toml::value& value) const {
    switch (value.type()) {
      case toml::value_t::boolean:
        return value.as_boolean();
      case toml::value_t::integer:
        return integer(value);
      case toml::value_t::floating:
        return floating(value);
      case toml::value_t::string:
        return value.as_string().str;
      case toml::value_t::array:
        return array(value);
      case toml::value_t::table:
        return table(value);
      default:
        return TomlDate{};
    }
  }

  TomlArray array(const toml::value& value) const {
    TomlArray items;
    for (const toml::value& item : value.as_array()) items.push_back(node(item));
    return items;
  }

  std::string digits(const toml::value& value) const {
    std::string token = region(value)->str();
    std::erase(token, '_');
    if (token.starts_with('+')) token.erase(0, 1);
    return token;
  }

  std::int64_t integer(const toml::value& value) const {
    const std::string token = digits(value);
    const int base = token.starts_with("0x") ? 16 : token.starts_with("0o") ? 8 : token.starts_with("0b") ? 2 : 10;
    const char* first = token.data() + (base == 10 ? 0 : 2);
    std::int64_t number = 0;
    if (std::from_chars(first, token.data() + token.size(), number, base).ec != std::errc{}) {
      fail_toml(source_, lines_.position(offset(value)), "integer does not fit 64 bits");
    }
    return number;
  }

  double floating(const toml::value& value) const {
    const std::string token = digits(value);
    double number = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), number).ec != std::errc{}) {
      fail_toml(source_, lines_.position(offset(value)), "number does not fit a double");
    }
    return number;
  }

  std::string_view text_;
  std::string_view source_;
  Lines lines_;
};

toml::value parse(std::string_view text, std::string_view source) {
  try {
    std::istringstream stream{std::string(text)};
    return toml::parse(stream, "file");
  } catch (const toml::exception& error) {
    const TomlComplaint complaint = read_toml_complaint(error.what());
    fail_toml(source, complaint.position, complaint.text);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail_toml(source, TextPosition{}, error.what());
  }
}

}  // namespace

TomlTable read_toml(std::string_view text, std::string_view source) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  check_toml_limits(text, source);
  // The library refuses a text without a single line.
  if (text.empty()) return {};
  return Converter(text, source).table(parse(text, source));
}

TomlTable read_toml_file(const std::filesystem::path& path) {
  const std::string source = path.string();
  try {
    return read_toml(read_file(path, kTomlMaxBytes), source);
  } catch (const DataError&) {
    throw ConfigError(printable(source), ": larger than ", kTomlMaxBytes, " bytes");
  }
}

}  // namespace titan::config
