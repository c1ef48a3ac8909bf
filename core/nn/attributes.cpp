#include "core/nn/attributes.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace titan::nn {

template <class... Parts>
void Attributes::fail(const Parts&... parts) const {
  throw PluginError("[", module_, "] ", parts...);
}

Attributes::Attributes(const std::string& module, std::map<std::string, Attribute> values)
    : module_(module), values_(std::move(values)) {}

const Attribute* Attributes::find(const std::string& key) {
  asked_.insert(key);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const Attribute& Attributes::require(const std::string& key) {
  const Attribute* value = find(key);
  if (value == nullptr) fail("attribute is missing: ", key);
  return *value;
}

double Attributes::number(const std::string& key) {
  const Attribute& value = require(key);
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* floating = std::get_if<double>(&value)) {
    number = *floating;
  } else {
    fail("attribute must be a number: ", key);
  }
  if (!std::isfinite(number)) fail("attribute must be finite: ", key);
  return number;
}

std::optional<double> Attributes::optional_number(const std::string& key) {
  if (find(key) == nullptr) return std::nullopt;
  return number(key);
}

double Attributes::positive(const std::string& key) {
  const double value = number(key);
  if (value <= 0) fail("attribute must be above 0: ", key, " is ", value);
  return value;
}

std::int64_t Attributes::positive_integer(const std::string& key) {
  const auto* value = std::get_if<std::int64_t>(&require(key));
  if (value == nullptr) fail("attribute must be an integer: ", key);
  if (*value <= 0) fail("attribute must be above 0: ", key, " is ", *value);
  return *value;
}

std::int64_t Attributes::count(const std::string& key) {
  const Attribute* value = find(key);
  if (value == nullptr) return 0;
  const auto* integer = std::get_if<std::int64_t>(value);
  if (integer == nullptr || *integer < 0) fail("attribute must be an integer from 0 on: ", key);
  return *integer;
}

bool Attributes::flag(const std::string& key) {
  const std::int64_t value = count(key);
  if (value > 1) fail("attribute must be 0 or 1: ", key, " is ", value);
  return value == 1;
}

std::string Attributes::choice(const std::string& key, const std::vector<std::string>& choices) {
  const auto* text = std::get_if<std::string>(&require(key));
  if (text == nullptr) fail("attribute must be a string: ", key);
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    fail("attribute must be one of ", join(choices, ", "), ": ", key, " is \"", printable(*text), '"');
  }
  return *text;
}

void Attributes::finish() const {
  for (const auto& [key, value] : values_) {
    if (asked_.contains(key)) continue;
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    fail("unknown attribute: ", printable(key), ", known are: ", known.empty() ? "none" : join(known, ", "));
  }
}

}  // namespace titan::nn
