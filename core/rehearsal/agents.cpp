#include "core/rehearsal/agents.hpp"

namespace titan::rehearsal {

Agents::Agents(const Layout& layout, const std::vector<Colors>& features)
    : layout_(layout), meetings_(layout.kinds().size()), meeting_of_ranks_(layout.kinds().size()) {
  find_used();
  begin(features);
  do {
    meet();
  } while (refine());
  list();
}

void Agents::find_used() {
  for (std::size_t i = 0; i < layout_.ranks().size(); ++i) {
    Used& used = used_.emplace_back();
    for (const TranslatedCall& call : layout_.calls(i)) {
      if (layout_.kinds()[call.kind].size() == 1) continue;
      if (call.role == TranslatedCall::Role::collective) {
        used.kinds.insert(call.kind);
      } else {
        used.routes.insert({call.kind, call.steps});
      }
    }
  }
}

void Agents::begin(const std::vector<Colors>& features) {
  std::map<std::vector<std::int32_t>, std::int32_t> numbers;
  colors_.assign(layout_.classes().size(), kNobody);
  for (std::size_t rank = 0; rank < colors_.size(); ++rank) {
    if (layout_.classes()[rank] == kNobody) continue;
    std::vector<std::int32_t> key{layout_.classes()[rank]};
    for (const Colors& feature : features) key.push_back(feature[rank]);
    colors_[rank] = numbers.emplace(key, static_cast<std::int32_t>(numbers.size())).first->second;
  }
  num_colors_ = numbers.size();
}

void Agents::meet() {
  for (std::uint32_t kind = 0; kind < meetings_.size(); ++kind) {
    meetings_[kind] = layout_.meetings(layout_.kinds()[kind], colors_, &meeting_of_ranks_[kind]);
  }
}

bool Agents::refine() {
  std::map<std::vector<std::int32_t>, std::int32_t> numbers;
  Colors finer(colors_.size(), kNobody);
  std::vector<std::int32_t> key;
  for (std::size_t rank = 0; rank < colors_.size(); ++rank) {
    const std::int32_t color = colors_[rank];
    if (color == kNobody) continue;
    const auto place = static_cast<std::int64_t>(rank);
    const Used& used = used_[static_cast<std::size_t>(layout_.classes()[rank])];
    key.assign(1, color);
    for (const std::uint32_t kind : used.kinds) key.push_back(meeting_of_ranks_[kind][rank]);
    for (const Route& route : used.routes) {
      const std::int64_t peer = layout_.kinds()[route.kind].neighbour(place, route.steps);
      key.push_back(colors_[static_cast<std::size_t>(peer)]);
    }
    finer[rank] = numbers.emplace(key, static_cast<std::int32_t>(numbers.size())).first->second;
  }
  const bool is_finer = numbers.size() > num_colors_;
  num_colors_ = numbers.size();
  if (is_finer) colors_ = std::move(finer);
  return is_finer;
}

void Agents::list() {
  agents_.resize(num_colors_);
  for (std::size_t rank = 0; rank < colors_.size(); ++rank) {
    if (colors_[rank] == kNobody) continue;
    Agent& agent = agents_[static_cast<std::size_t>(colors_[rank])];
    if (agent.num_ranks++ > 0) continue;
    agent.rehearsed = static_cast<std::size_t>(layout_.classes()[rank]);
    agent.first_rank = static_cast<std::int64_t>(rank);
  }
}

std::int32_t Agents::peer(std::size_t agent, const Route& route) const {
  const std::int64_t rank = layout_.kinds()[route.kind].neighbour(agents_[agent].first_rank, route.steps);
  return colors_[static_cast<std::size_t>(rank)];
}

}  // namespace titan::rehearsal
