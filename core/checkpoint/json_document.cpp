#include "core/checkpoint/json_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/checkpoint/file_name.hpp"
#include "core/checkpoint/parts.hpp"

namespace titan::checkpoint {

void require_document(const JsonField& root, std::string_view format) {
  const JsonField found = root.at("format");
  if (found.text() != format) {
    found.fail("expected \"", format, "\", found \"", printable(shortened(found.text(), 64)), '"');
  }
  const JsonField version = root.at("version");
  const std::int64_t number = version.integer(0, kLargestNumber);
  if (number != kDocumentVersion) {
    version.fail("unknown version: ", number, ", this program reads version ", kDocumentVersion);
  }
}

void require_no_others(const JsonField& object, std::initializer_list<std::string_view> names) {
  for (const auto& [name, ignored] : object.members()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      object.fail("unknown field: \"", printable(shortened(name, 64)), '"');
    }
  }
}

std::uint64_t read_bytes(const JsonField& field) {
  return static_cast<std::uint64_t>(field.integer(0, kLargestNumber));
}

std::vector<std::int64_t> read_sizes(const JsonField& field) {
  const std::vector<JsonField> items = field.items();
  if (items.size() > kMostDims) field.fail("more than ", kMostDims, " dims");
  std::vector<std::int64_t> sizes;
  sizes.reserve(items.size());
  for (const JsonField& item : items) sizes.push_back(item.integer(0, kLargestNumber));
  return sizes;
}

const std::string& read_hexadecimal(const JsonField& field) {
  const std::string& text = field.text();
  if (text.size() != 32 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    field.fail("expected 32 hexadecimal digits, found \"", printable(shortened(text, 64)), '"');
  }
  return text;
}

const std::string& read_file_name(const JsonField& field) {
  if (!is_file_name(field.text())) {
    field.fail("not the name of a file in the same folder: \"", printable(shortened(field.text(), 300)), '"');
  }
  return field.text();
}

}  // namespace titan::checkpoint
