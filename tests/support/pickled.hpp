#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/pickle/writer.hpp"

namespace titan::testing {

/// Writes a value of JSON into a pickle: objects become dicts, arrays lists.
inline void write_pickled(pickle::Writer& writer, const nlohmann::ordered_json& value) {
  if (value.is_object()) {
    writer.begin_dict();
    for (const auto& [key, item] : value.items()) {
      writer.text(key);
      write_pickled(writer, item);
    }
    writer.end_dict();
  } else if (value.is_array()) {
    writer.begin_list();
    for (const auto& item : value) write_pickled(writer, item);
    writer.end_list();
  } else if (value.is_string()) {
    writer.text(value.get_ref<const std::string&>());
  } else if (value.is_boolean()) {
    writer.boolean(value.get<bool>());
  } else if (value.is_number_float()) {
    writer.real(value.get<double>());
  } else if (value.is_number()) {
    writer.integer(value.get<std::int64_t>());
  } else {
    writer.none();
  }
}

/// The pickle of a value of JSON.
inline std::string pickled(const nlohmann::ordered_json& value) {
  pickle::Writer writer;
  write_pickled(writer, value);
  return writer.finish();
}

}  // namespace titan::testing
