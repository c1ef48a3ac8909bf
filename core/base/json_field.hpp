#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace titan {

/// A value of a JSON file that nobody vouches for, together with the path that errors name. Does not own the value.
class JsonField {
 public:
  /// `tag` names the reader in errors and outlives this; `where` is the file, and fields below extend it:
  /// "FILE: model.vocab".
  JsonField(const nlohmann::json& value, const char* tag, std::string where);

  /// Says whether this object has the field, and not as null.
  bool has(std::string_view name) const;
  /// The field of this object. DataError when this is no object or lacks it.
  JsonField at(std::string_view name) const;
  std::vector<JsonField> items() const;
  /// Name and value of each member of this object.
  std::vector<std::pair<std::string, JsonField>> members() const;

  bool is_text() const;
  bool is_object() const;
  const std::string& text() const;
  bool boolean() const;
  double number() const;
  /// A whole number from `lowest` to `highest`.
  std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;

  /// The named boolean of this object, or `fallback` when it is absent or null.
  bool boolean_or(std::string_view name, bool fallback) const;
  const std::string& where() const { return where_; }

  /// Throws a DataError that names the file and the field.
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    throw DataError('[', tag_, "] ", printable(where_), ": ", reason...);
  }

 private:
  const nlohmann::json* value_;
  const char* tag_;
  std::string where_;
  bool is_root_ = true;
};

}  // namespace titan
