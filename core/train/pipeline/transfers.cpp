#include "core/train/pipeline/transfers.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

using schedule::Message;

// Of one route, so that activations do not pile up behind a slow receiver.
constexpr std::size_t kMostSends = 2;

constexpr std::int64_t kMostDims = 8;
constexpr std::int64_t kHeaderLength = 2 + kMostDims;  // dtype, number of dims, sizes

enum Tag : std::int64_t { kActivation, kHeader, kGradient, kNumTags };

std::int64_t tag_of(const Message& message) {
  return static_cast<std::int64_t>(message.from_stage) * kNumTags + (message.is_gradient ? kGradient : kActivation);
}

std::int64_t header_tag(const Message& message) {
  return static_cast<std::int64_t>(message.from_stage) * kNumTags + kHeader;
}

at::Tensor header_of(const at::Tensor& tensor) {
  if (tensor.dim() > kMostDims) {
    throw PluginError("[pipeline] a stage's output has too many dims: ", tensor.dim(), ", at most ", kMostDims);
  }
  at::Tensor header = at::zeros({kHeaderLength}, at::kLong);
  auto* values = header.data_ptr<std::int64_t>();
  values[0] = static_cast<std::int64_t>(tensor.scalar_type());
  values[1] = tensor.dim();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), values + 2);
  return header;
}

}  // namespace

std::int64_t Transfers::rank_of(std::uint32_t stage) const {
  const auto owner = stages_.owner(stage);
  TITAN_CHECK(owner.has_value(), "no rank has stage ", stage);
  return static_cast<std::int64_t>(*owner);
}

void Transfers::start(const Route& route, std::int64_t peer, const at::Tensor& tensor, std::int64_t tag) {
  std::deque<comm::WorkPtr>& sends = sends_[route];
  sends.push_back(ranks_.send(tensor, peer, tag));
}

void Transfers::send(const Message& message, const at::Tensor& tensor, const Kind& kind) {
  const Route route{message.from_stage, message.is_gradient};
  std::deque<comm::WorkPtr>& sends = sends_[route];
  while (sends.size() >= kMostSends) {
    sends.front()->wait();
    sends.pop_front();
  }
  const std::int64_t peer = rank_of(message.to_stage);
  if (!message.is_gradient && told_.emplace(message.from_stage, kind).second) {
    start(route, peer, header_of(tensor), header_tag(message));
  }
  start(route, peer, tensor, tag_of(message));
}

const Transfers::Form& Transfers::form(const Message& message, const Kind& kind) {
  const std::pair key{message.from_stage, kind};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const at::Tensor header = at::empty({kHeaderLength}, at::kLong);
  ranks_.receive(header, rank_of(message.from_stage), header_tag(message))->wait();
  const auto* values = header.const_data_ptr<std::int64_t>();
  return known_.emplace(key, Form{{values + 2, values + 2 + values[1]}, static_cast<at::ScalarType>(values[0])})
      .first->second;
}

void Transfers::receive_activation(const Message& message, const Kind& kind, at::Device device) {
  const Form& made = form(message, kind);
  post(message, at::empty(made.sizes, at::TensorOptions(device).dtype(made.dtype)));
}

void Transfers::receive_gradient(const Message& message, const at::Tensor& activation) {
  post(message, at::empty_like(activation, at::MemoryFormat::Contiguous));
}

void Transfers::post(const Message& message, at::Tensor into) {
  comm::WorkPtr work = ranks_.receive(into, rank_of(message.from_stage), tag_of(message));
  incoming_.emplace(message, Incoming{std::move(into), std::move(work)});
}

at::Tensor Transfers::take(const Message& message) {
  const auto found = incoming_.find(message);
  TITAN_CHECK(found != incoming_.end(), "no receive was posted for ", schedule::name_of(schedule::receiving(message)));
  Incoming incoming = std::move(found->second);
  incoming_.erase(found);
  incoming.work->wait();
  return incoming.tensor;
}

void Transfers::finish() {
  for (auto& [route, sends] : sends_) {
    for (; !sends.empty(); sends.pop_front()) sends.front()->wait();
  }
}

void Transfers::abandon() {
  sends_.clear();
  incoming_.clear();
}

}  // namespace titan::train
