#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/nn/tree.hpp"

namespace titan::nn {

/// Reads the attributes of one leaf module. Errors are PluginErrors that name the module and the attribute.
class Attributes {
 public:
  Attributes(const std::string& module, std::map<std::string, Attribute> values);

  /// A number; whole ones may be given as integers. Throws when it is missing or not finite.
  double number(const std::string& key);
  std::optional<double> optional_number(const std::string& key);
  /// A number above zero.
  double positive(const std::string& key);
  std::int64_t positive_integer(const std::string& key);
  /// A whole number from 0 on; 0 where it is missing.
  std::int64_t count(const std::string& key);
  /// 0 or 1; false where it is missing.
  bool flag(const std::string& key);
  /// One of `choices`; throws when it is missing.
  std::string choice(const std::string& key, const std::vector<std::string>& choices);
  /// Throws when an attribute was given that nobody asked for.
  void finish() const;

 private:
  const Attribute* find(const std::string& key);
  const Attribute& require(const std::string& key);
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const;

  std::string module_;
  std::map<std::string, Attribute> values_;
  std::set<std::string> asked_;
};

}  // namespace titan::nn
