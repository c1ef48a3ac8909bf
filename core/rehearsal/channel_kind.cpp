#include "core/rehearsal/channel_kind.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::rehearsal {
namespace {

std::vector<config::Axis> axes_of(std::string_view head) {
  if (head == "world") return config::Mesh::axes(head);
  TITAN_CHECK(!head.empty(), "[rehearsal] a channel has no name");
  std::vector<config::Axis> found;
  for (const std::string& name : split(head, '+')) {
    const auto axis = std::ranges::find(config::kAxes, name, [](config::Axis each) { return config::name(each); });
    TITAN_CHECK(axis != config::kAxes.end(), "[rehearsal] no name of a channel: ", printable(head));
    found.push_back(*axis);
  }
  return found;
}

}  // namespace

ChannelKind::ChannelKind(std::string_view channel, const config::Mesh& mesh) {
  const std::string_view head = channel.substr(0, channel.find('/'));
  const std::int64_t experts = mesh.expert_degree();
  if (head == "ep") {
    add(1, experts);
  } else if (head == "efsdp") {
    add(experts,
        mesh.degree(config::Axis::dp_shard) * mesh.degree(config::Axis::cp) * mesh.degree(config::Axis::tp) / experts);
  }
  axes_ = head;
  if (head != "ep" && head != "efsdp" && head != "self") add_axes(head, mesh);
}

void ChannelKind::add(std::int64_t stride, std::int64_t degree) {
  if (degree > 1) digits_.push_back({stride, degree});
  size_ *= degree;
}

void ChannelKind::add_axes(std::string_view head, const config::Mesh& mesh) {
  const std::vector<config::Axis> wanted = axes_of(head);
  std::vector<std::string> names;
  std::int64_t stride = 1;
  for (std::size_t i = config::kNumAxes; i-- > 0;) {
    const config::Axis axis = config::kAxes[i];
    const std::int64_t degree = mesh.degree(axis);
    if (degree > 1 && std::ranges::find(wanted, axis) != wanted.end()) {
      add(stride, degree);
      names.emplace_back(config::name(axis));
    }
    stride *= degree;
  }
  std::ranges::reverse(names);
  axes_ = names.empty() ? "self" : join(names, "+");
}

std::int64_t ChannelKind::leader(std::int64_t rank) const {
  std::int64_t found = rank;
  for (const Digit& digit : digits_) found -= rank / digit.stride % digit.degree * digit.stride;
  return found;
}

std::int64_t ChannelKind::position(std::int64_t rank) const {
  std::int64_t place = 0, weight = 1;
  for (const Digit& digit : digits_) {
    place += rank / digit.stride % digit.degree * weight;
    weight *= digit.degree;
  }
  return place;
}

std::int64_t ChannelKind::member(std::int64_t rank, std::int64_t position) const {
  std::int64_t found = leader(rank);
  for (const Digit& digit : digits_) {
    found += position % digit.degree * digit.stride;
    position /= digit.degree;
  }
  return found;
}

std::vector<std::int64_t> ChannelKind::members(std::int64_t rank) const {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < size_; ++i) found.push_back(member(rank, i));
  return found;
}

std::int64_t ChannelKind::neighbour(std::int64_t rank, std::int64_t steps) const {
  return member(rank, wrapped(position(rank) + steps));
}

}  // namespace titan::rehearsal
