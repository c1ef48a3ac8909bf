#include "plugins/observability/memory/place_table.hpp"

namespace titan::observability {

Purpose purpose_of(std::string_view scope) {
  if (scope.starts_with("communication::")) return Purpose::communication;
  return scope.starts_with("optimizer::") ? Purpose::optimizer_state : Purpose::unknown;
}

std::string_view module_of(std::string_view scope) {
  if (purpose_of(scope) == Purpose::unknown) return {};
  const std::size_t space = scope.find(' ');
  return space == std::string_view::npos ? std::string_view() : scope.substr(space + 1);
}

std::size_t PlaceTable::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = static_cast<std::uint64_t>(key.phase) * 4 + static_cast<std::uint64_t>(key.purpose);
  for (const char* text : {key.op, key.node, key.module}) {
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(text)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32U;
  }
  return hash;
}

std::uint32_t PlaceTable::number(const Where& where) {
  const Key key{where.op, where.node, where.module.data(), where.phase, where.purpose};
  const auto found = numbers_.find(key);
  if (found != numbers_.end() && places_[found->second].module == where.module) return found->second;
  const auto number = static_cast<std::uint32_t>(places_.size());
  places_.push_back({where.op, where.node, std::string(where.module), where.phase, where.purpose});
  numbers_.insert_or_assign(key, number);
  return number;
}

}  // namespace titan::observability
