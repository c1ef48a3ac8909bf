#include "core/pickle/document.hpp"

#include <bit>

#include "core/base/error.hpp"

namespace titan::pickle {
namespace {

// Classes have a few fields; a dict with more is no state of one of them.
constexpr std::size_t kMostFields = 32;

}  // namespace

Kind Value::kind() const { return pickle_->nodes_[index_].kind; }

std::optional<bool> Value::boolean() const {
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind != Kind::boolean) return std::nullopt;
  return node.second != 0;
}

std::optional<std::int64_t> Value::integer() const {
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind != Kind::integer) return std::nullopt;
  return static_cast<std::int64_t>(node.second);
}

std::optional<double> Value::real() const {
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind != Kind::real) return std::nullopt;
  return std::bit_cast<double>(node.second);
}

std::optional<std::string_view> Value::text() const {
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind != Kind::text) return std::nullopt;
  return std::string_view(pickle_->bytes_).substr(node.first, static_cast<std::size_t>(node.second));
}

std::optional<std::string_view> Value::bytes() const {
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind != Kind::bytes) return std::nullopt;
  return std::string_view(pickle_->bytes_).substr(node.first, static_cast<std::size_t>(node.second));
}

std::size_t Value::size() const {
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind == Kind::tuple) return static_cast<std::size_t>(node.second);
  if (node.second == 0) return 0;
  if (node.kind == Kind::list) return pickle_->list_items_[node.first].size();
  if (node.kind == Kind::dict) return pickle_->list_items_[node.first].size() / 2;
  return 0;
}

Value Value::item(std::size_t at) const {
  TITAN_CHECK(at < size(), "item of a pickle");
  const Document::Node& node = pickle_->nodes_[index_];
  if (node.kind == Kind::tuple) return {*pickle_, pickle_->tuple_items_[node.first + at]};
  return {*pickle_, pickle_->list_items_[node.first][node.kind == Kind::dict ? 2 * at + 1 : at]};
}

Value Value::key(std::size_t at) const {
  TITAN_CHECK(kind() == Kind::dict && at < size(), "key of a pickle");
  return {*pickle_, pickle_->list_items_[pickle_->nodes_[index_].first][2 * at]};
}

std::string_view Value::name() const {
  const Document::Node& node = pickle_->nodes_[index_];
  const bool is_named = node.kind == Kind::name || node.kind == Kind::call || node.kind == Kind::object;
  return is_named ? pickle_->allowed_[node.first] : std::string_view();
}

std::optional<Value> Value::argument() const {
  const Document::Node& node = pickle_->nodes_[index_];
  const bool has_one = node.kind == Kind::call || node.kind == Kind::object || node.kind == Kind::persistent;
  if (!has_one) return std::nullopt;
  return Value(*pickle_, static_cast<std::uint32_t>(node.second));
}

std::optional<Value> Value::state() const {
  const Document::Node& node = pickle_->nodes_[index_];
  const auto state = static_cast<std::uint32_t>(node.second >> 32U);
  if (node.kind != Kind::object || state == 0) return std::nullopt;
  return Value(*pickle_, state);
}

std::optional<Value> Value::field(std::string_view key_text) const {
  const Value fields = state().value_or(*this);
  if (fields.kind() != Kind::dict || fields.size() > kMostFields) return std::nullopt;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.key(i).text() == key_text) return fields.item(i);
  }
  return std::nullopt;
}

}  // namespace titan::pickle
