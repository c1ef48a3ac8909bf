#include "core/checkpoint/dcp/pickle.hpp"

#include <bit>

#include "core/base/error.hpp"

namespace titan::checkpoint {
namespace {

// Classes have a few fields; a dict with more is no state of one of them.
constexpr std::size_t kMostFields = 32;

}  // namespace

PickleKind PickleValue::kind() const { return pickle_->nodes_[index_].kind; }

std::optional<bool> PickleValue::boolean() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind != PickleKind::boolean) return std::nullopt;
  return node.second != 0;
}

std::optional<std::int64_t> PickleValue::integer() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind != PickleKind::integer) return std::nullopt;
  return static_cast<std::int64_t>(node.second);
}

std::optional<double> PickleValue::real() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind != PickleKind::real) return std::nullopt;
  return std::bit_cast<double>(node.second);
}

std::optional<std::string_view> PickleValue::text() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind != PickleKind::text) return std::nullopt;
  return std::string_view(pickle_->bytes_).substr(node.first, static_cast<std::size_t>(node.second));
}

std::optional<std::string_view> PickleValue::bytes() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind != PickleKind::bytes) return std::nullopt;
  return std::string_view(pickle_->bytes_).substr(node.first, static_cast<std::size_t>(node.second));
}

std::size_t PickleValue::size() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind == PickleKind::tuple) return static_cast<std::size_t>(node.second);
  if (node.second == 0) return 0;
  if (node.kind == PickleKind::list) return pickle_->list_items_[node.first].size();
  if (node.kind == PickleKind::dict) return pickle_->list_items_[node.first].size() / 2;
  return 0;
}

PickleValue PickleValue::item(std::size_t at) const {
  TITAN_CHECK(at < size(), "item of a pickle");
  const Pickle::Node& node = pickle_->nodes_[index_];
  if (node.kind == PickleKind::tuple) return {*pickle_, pickle_->tuple_items_[node.first + at]};
  return {*pickle_, pickle_->list_items_[node.first][node.kind == PickleKind::dict ? 2 * at + 1 : at]};
}

PickleValue PickleValue::key(std::size_t at) const {
  TITAN_CHECK(kind() == PickleKind::dict && at < size(), "key of a pickle");
  return {*pickle_, pickle_->list_items_[pickle_->nodes_[index_].first][2 * at]};
}

std::string_view PickleValue::name() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  const bool is_named =
      node.kind == PickleKind::name || node.kind == PickleKind::call || node.kind == PickleKind::object;
  return is_named ? pickle_->allowed_[node.first] : std::string_view();
}

std::optional<PickleValue> PickleValue::argument() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  const bool has_one =
      node.kind == PickleKind::call || node.kind == PickleKind::object || node.kind == PickleKind::persistent;
  if (!has_one) return std::nullopt;
  return PickleValue(*pickle_, static_cast<std::uint32_t>(node.second));
}

std::optional<PickleValue> PickleValue::state() const {
  const Pickle::Node& node = pickle_->nodes_[index_];
  const auto state = static_cast<std::uint32_t>(node.second >> 32U);
  if (node.kind != PickleKind::object || state == 0) return std::nullopt;
  return PickleValue(*pickle_, state);
}

std::optional<PickleValue> PickleValue::field(std::string_view key_text) const {
  const PickleValue fields = state().value_or(*this);
  if (fields.kind() != PickleKind::dict || fields.size() > kMostFields) return std::nullopt;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.key(i).text() == key_text) return fields.item(i);
  }
  return std::nullopt;
}

}  // namespace titan::checkpoint
