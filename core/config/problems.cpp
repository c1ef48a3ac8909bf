#include "core/config/problems.hpp"

#include <utility>

#include "core/base/error.hpp"

namespace titan::config {

void Problems::add(std::string message) {
  ++count_;
  if (shows_more()) messages_.push_back(std::move(message));
}

void Problems::add_usage(std::string message) {
  usage_ = true;
  add(std::move(message));
}

void Problems::add_value(std::string message) { add(std::move(message)); }

std::string Problems::summary() const {
  if (count_ == 1) return concat("[config] ", messages_.front());
  std::string text = concat("[config] ", count_, " problems:");
  for (const std::string& message : messages_) text += concat("\n  ", message);
  if (count_ > messages_.size()) text += concat("\n  and ", count_ - messages_.size(), " more");
  return text;
}

void Problems::throw_if_any() const {
  if (empty()) return;
  if (usage_) throw UsageError(summary());
  throw ConfigError(summary());
}

}  // namespace titan::config
