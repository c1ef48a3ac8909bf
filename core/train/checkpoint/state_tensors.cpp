#include "core/train/checkpoint/state_tensors.hpp"

#include <map>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/base/number.hpp"
#include "core/nn/initial_values.hpp"

namespace titan::train {
namespace {

using checkpoint::DType;

DType dtype_of(const at::Tensor& values, const std::string& name) {
  const auto dtype = checkpoint::dtype_of_torch(c10::getDtypeNames(values.scalar_type()).first);
  if (!dtype) {
    throw PluginError("[checkpoint] a tensor has a type that checkpoints do not know: ", name, ", ",
                      c10::toString(values.scalar_type()));
  }
  return *dtype;
}

StateTensor state_tensor(StateKind kind, std::string name, const std::vector<std::int64_t>& shape, const Box& box,
                         const at::Tensor& values) {
  const at::Tensor plain = values.detach();
  TITAN_CHECK(plain.is_contiguous() && plain.sizes().equals(box.size),
              "a part of a state that is laid out otherwise: ", name);
  const DType dtype = dtype_of(plain, name);
  return {kind, {std::move(name), dtype, shape}, box, plain};
}

void add_optimizer(const optim::AdamOptimizer& optimizer, std::vector<StateTensor>& found) {
  for (const auto& group : optimizer.groups()) {
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const nn::Parameter& parameter = *group.parameters[i];
      const optim::AdamState& state = group.states[i];
      const std::string prefix = concat("optimizer.state.", parameter.name, '.');
      const auto add = [&](const char* name, const std::vector<std::int64_t>& shape, const Box& box,
                           const at::Tensor& values) {
        found.push_back(state_tensor(StateKind::optimizer, prefix + name, shape, box, values));
      };
      add("exp_avg", parameter.shape, parameter.part, state.exp_avg);
      add("exp_avg_sq", parameter.shape, parameter.part, state.exp_avg_sq);
      add("step", {}, {}, state.step);
    }
  }
}

/// One tensor as its holders tell of it: "NAME BOX BYTES".
std::string line_of(const StateTensor& tensor) {
  std::string box;
  for (const std::int64_t index : tensor.box.offset) box += concat(index, ',');
  box += '+';
  for (const std::int64_t size : tensor.box.size) box += concat(size, ',');
  return concat(tensor.tensor.name, ' ', box, ' ', tensor.values.nbytes());
}

}  // namespace

std::vector<StateTensor> state_tensors(const nn::Tree& tree, const optim::AdamOptimizer* optimizer) {
  std::vector<StateTensor> found;
  for (const auto& parameter : tree.parameters()) {
    found.push_back(
        state_tensor(StateKind::model, parameter->name, parameter->shape, parameter->part, parameter->storage));
  }
  for (const nn::Buffer* buffer : tree.buffers()) {
    if (!buffer->is_saved) continue;
    found.push_back(
        state_tensor(StateKind::model, buffer->name, buffer->shape, nn::whole(buffer->shape), buffer->value));
  }
  if (optimizer != nullptr) add_optimizer(*optimizer, found);
  return found;
}

std::string random_state_name(std::int64_t rank) {
  std::string digits = concat(rank);
  if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
  return concat("random_state.rank_", digits);
}

StateTensor random_state_tensor(const nn::Tree& tree, std::int64_t rank) {
  const at::Tensor state = tree.random_state();
  const std::vector<std::int64_t> shape = state.sizes().vec();
  return state_tensor(StateKind::random, random_state_name(rank), shape, nn::whole(shape), state);
}

WriterPlan::WriterPlan(checkpoint::Team& team, const std::vector<StateTensor>& tensors)
    : writes_(tensors.size(), true) {
  if (team.size() == 1) return;
  std::string mine;
  for (const StateTensor& tensor : tensors) mine += line_of(tensor) + '\n';
  // The holders of each box, in order of rank; the same on every rank.
  std::map<std::string, std::vector<std::size_t>> holders;
  const std::vector<std::string> texts = team.gather(mine);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    for (std::string& line : split(texts[rank], '\n')) {
      if (!line.empty()) holders[std::move(line)].push_back(rank);
    }
  }
  std::vector<std::uint64_t> load(texts.size(), 0);
  std::map<std::string, std::size_t, std::less<>> writer;
  for (const auto& [line, ranks] : holders) {
    std::size_t chosen = ranks.front();
    for (const std::size_t rank : ranks) {
      if (load[rank] < load[chosen]) chosen = rank;
    }
    load[chosen] += parse_number<std::uint64_t>(std::string_view(line).substr(line.rfind(' ') + 1)).value_or(0);
    writer[line] = chosen;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    writes_[i] = writer.at(line_of(tensors[i])) == static_cast<std::size_t>(team.rank());
  }
}

checkpoint::HeldPart held(const StateTensor& tensor) {
  return {tensor.tensor, tensor.box, static_cast<const std::byte*>(tensor.values.const_data_ptr())};
}

checkpoint::WantedPart wanted(StateTensor& tensor) {
  return {tensor.tensor, tensor.box, static_cast<std::byte*>(tensor.values.data_ptr())};
}

}  // namespace titan::train
