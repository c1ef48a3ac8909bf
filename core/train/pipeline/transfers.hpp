#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/comm/group.hpp"
#include "core/schedule/message.hpp"
#include "core/schedule/table.hpp"

namespace titan::train {

/// Brings activations and their gradients from stage to stage, over the group of the pipeline. Sends are started and
/// waited for later, receives are posted before their tensor is needed. Nobody has to know the shape of an activation:
/// the first one of each kind is preceded by a header. Used on the training thread.
class Transfers {
 public:
  /// What an activation's shape depends on: the sizes of tokens, and whether it is trained on.
  using Kind = std::pair<std::vector<std::int64_t>, bool>;

  /// Both must outlive the object.
  Transfers(comm::Group& ranks, const schedule::Table& stages) : ranks_(ranks), stages_(stages) {}

  /// Starts to send. The tensor must not be changed before finish().
  void send(const schedule::Message& message, const at::Tensor& tensor, const Kind& kind);
  /// Posts the receive of an activation, on the device that its stage computes on.
  void receive_activation(const schedule::Message& message, const Kind& kind, at::Device device);
  /// Posts the receive of a gradient, which is like the activation that was sent.
  void receive_gradient(const schedule::Message& message, const at::Tensor& activation);
  /// Waits for a tensor whose receive was posted.
  at::Tensor take(const schedule::Message& message);
  /// Waits for all sends.
  void finish();
  /// Gives up what is under way, after a failure.
  void abandon();

 private:
  struct Incoming {
    at::Tensor tensor;
    comm::WorkPtr work;
  };
  struct Form {
    std::vector<std::int64_t> sizes;
    at::ScalarType dtype;
  };
  using Route = std::pair<std::uint32_t, bool>;  // sending stage, whether of gradients

  std::int64_t rank_of(std::uint32_t stage) const;
  void start(const Route& route, std::int64_t peer, const at::Tensor& tensor, std::int64_t tag);
  const Form& form(const schedule::Message& message, const Kind& kind);
  void post(const schedule::Message& message, at::Tensor into);

  comm::Group& ranks_;
  const schedule::Table& stages_;
  std::map<Route, std::deque<comm::WorkPtr>> sends_;
  std::map<schedule::Message, Incoming> incoming_;
  std::set<std::pair<std::uint32_t, Kind>> told_;         // headers sent, by sending stage
  std::map<std::pair<std::uint32_t, Kind>, Form> known_;  // headers received, by sending stage
};

}  // namespace titan::train
