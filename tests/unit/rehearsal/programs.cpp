#include "tests/unit/rehearsal/programs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/text.hpp"

namespace titan::rehearsal {

config::Mesh mesh_of(const config::Degrees& degrees, std::int64_t expert_degree) {
  const std::int64_t ranks = std::accumulate(degrees.begin(), degrees.end(), std::int64_t{1}, std::multiplies<>());
  return {degrees, ranks, expert_degree};
}

std::string channel_of(const config::Mesh& mesh, std::int64_t rank, std::string_view group) {
  if (group == "ep" || group == "efsdp") return concat(group, "/from", mesh.members(group, rank).front());
  const std::vector<config::Axis> axes = config::Mesh::axes(group);
  std::vector<std::string> along;
  std::string place;
  for (const config::Axis axis : config::kAxes) {
    if (mesh.degree(axis) == 1) continue;
    const std::string name(config::name(axis));
    if (std::ranges::find(axes, axis) != axes.end()) {
      along.push_back(name);
    } else {
      place += concat('/', name, mesh.coordinate(rank, axis));
    }
  }
  if (along.empty()) return concat("self", place);
  return place.empty() ? "world" : concat(join(along, "+"), place);
}

std::int64_t bytes_of(const CallForm& form) {
  if (form.dtype.empty()) return 0;
  return std::accumulate(form.sizes.begin(), form.sizes.end(), std::int64_t{form.dtype == "Float" ? 4 : 2},
                         std::multiplies<>());
}

Program::Program(const config::Mesh& mesh, std::int64_t rank, std::vector<std::int64_t> stands_for) : mesh_(mesh) {
  made_.rank = rank;
  made_.stands_for = stands_for.empty() ? std::vector{rank} : std::move(stands_for);
}

std::int32_t Program::add(RehearsedCall call) {
  call.channel = channel_of(mesh_, made_.rank, call.group);
  made_.channels.try_emplace(call.channel, mesh_.members(call.group, made_.rank));
  const auto next = static_cast<std::uint32_t>(made_.calls.size());
  const auto [known, is_new] = numbers_.try_emplace(call, next);
  if (is_new) made_.calls.push_back(call);
  made_.events.push_back({known->second, -1, made_.flops});
  return static_cast<std::int32_t>(made_.events.size() - 1);
}

std::int32_t Program::start(std::string_view op, std::string_view group, const CallForm& form) {
  RehearsedCall call;
  call.op = op;
  call.group = group;
  call.module = form.module;
  if (op == "barrier") return add(std::move(call));
  call.dtype = form.dtype;
  call.input_sizes = call.output_sizes = form.sizes;
  const auto ranks = static_cast<std::int64_t>(mesh_.members(group, made_.rank).size());
  call.input_bytes = call.output_bytes = bytes_of(form);
  if (op == "_allgather_base") {
    call.output_sizes.front() *= ranks;
    call.output_bytes *= ranks;
  } else if (op == "_reduce_scatter_base") {
    call.output_sizes.front() /= ranks;
    call.output_bytes /= ranks;
  }
  return add(std::move(call));
}

std::int32_t Program::send(std::int64_t peer, const CallForm& form) {
  RehearsedCall call;
  call.op = "send";
  call.group = "pp";
  call.module = form.module;
  call.dtype = form.dtype;
  call.input_sizes = form.sizes;
  call.input_bytes = bytes_of(form);
  call.peer = peer;
  return add(std::move(call));
}

std::int32_t Program::receive(std::int64_t peer, const CallForm& form) {
  RehearsedCall call;
  call.op = "recv";
  call.group = "pp";
  call.module = form.module;
  call.dtype = form.dtype;
  call.output_sizes = form.sizes;
  call.output_bytes = bytes_of(form);
  call.peer = peer;
  return add(std::move(call));
}

void Program::wait(std::int32_t start) {
  made_.events.push_back({made_.events[static_cast<std::size_t>(start)].call, start, made_.flops});
}

void Program::begin_step() {
  made_.first_of_step = made_.events.size();
  made_.flops_before_step = made_.flops;
  made_.spans.clear();
}

void Program::begin_span(std::string_view phase, std::int32_t micro_batch, std::int32_t stage) {
  made_.spans.push_back(
      {std::string(phase), micro_batch, stage, made_.events.size(), made_.events.size(), made_.flops, made_.flops});
}

void Program::end_span() {
  made_.spans.back().last_event = made_.events.size();
  made_.spans.back().last_flops = made_.flops;
}

}  // namespace titan::rehearsal
