#include "core/comm/communicator.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/comm/channel.hpp"
#include "core/comm/transport.hpp"
#include "titan/abi/observer.h"

namespace titan::comm {
namespace {

/// The same for all names and ranks that mean the same set of ranks: the axes along which it extends, and where it
/// stands on the others. All ranks are the world whatever the layout: ranks that were given different layouts meet
/// there and can say so.
std::string channel_name(const config::Mesh& mesh, std::int64_t rank, std::string_view group) {
  if (group == "ep" || group == "efsdp") {
    const std::vector<std::int64_t> members = mesh.members(group, rank);
    // Part of the axes that it shares with its counterpart.
    if (members.size() > 1 && members.size() < mesh.members("tp", rank).size() * mesh.members("fsdp", rank).size()) {
      return concat(group, "/from", members.front());
    }
    if (members.size() == 1) return concat("self/", rank);
  }
  const std::vector<config::Axis> axes = config::Mesh::axes(group);
  std::vector<std::string> along;
  std::string place;
  for (const config::Axis axis : config::kAxes) {
    if (mesh.degree(axis) == 1) continue;
    const std::string name(config::name(axis));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      along.push_back(name);
    } else {
      place += concat('/', name, mesh.coordinate(rank, axis));
    }
  }
  if (along.empty()) return concat("self", place);
  return place.empty() ? "world" : concat(join(along, "+"), place);
}

}  // namespace

Communicator::Communicator(config::Mesh mesh, std::int64_t rank, std::shared_ptr<Transport> transport)
    : mesh_(std::move(mesh)), rank_(rank), transport_(std::move(transport)), records_(std::make_shared<Recorder>()) {
  TITAN_CHECK(rank >= 0 && rank < mesh_.world_size(), "[comm] no such rank: ", rank, " of ", mesh_.world_size());
  if (transport_ != nullptr) transport_->introduce(stand_);
}

Communicator::~Communicator() {
  for (const auto& [name, channel] : channels_) channel->disown();
}

Group& Communicator::group(std::string_view name) {
  const auto known = groups_.find(name);
  if (known != groups_.end()) return *known->second;
  ChannelFacts facts;
  facts.name = channel_name(mesh_, rank_, name);
  auto channel = channels_.find(facts.name);
  if (channel == channels_.end()) {
    facts.members = mesh_.members(name, rank_);
    facts.position = std::find(facts.members.begin(), facts.members.end(), rank_) - facts.members.begin();
    std::string key = facts.name;
    channel = channels_.emplace(std::move(key), std::make_shared<Channel>(*this, std::move(facts))).first;
  }
  auto group = std::make_unique<Group>(std::string(name), channel->second);
  return *groups_.emplace(std::string(name), std::move(group)).first->second;
}

bool Communicator::moves_data() const { return transport_ == nullptr || transport_->moves_data(); }

void Communicator::set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

void Communicator::set_module(std::string_view module) { module_ = std::string(module); }

void Communicator::recover() {
  stand_->recover();
  if (transport_ != nullptr) transport_->recover();
}

void Communicator::hold() {
  if (transport_ != nullptr) transport_->hold(true);
}

void Communicator::release() {
  if (transport_ != nullptr) transport_->hold(false);
}

void Communicator::abort(std::string_view reason) noexcept {
  if (!is_aborted_.exchange(true)) report_trouble(TITAN_DUMP_ERROR, reason);
  if (transport_ != nullptr) transport_->abort(reason);
}

}  // namespace titan::comm
