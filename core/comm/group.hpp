#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "titan/abi/collective.h"

namespace titan::comm {

enum class Reduce : std::int32_t { sum = TITAN_REDUCE_SUM, max = TITAN_REDUCE_MAX, min = TITAN_REDUCE_MIN };

class Channel;

/// A collective that was started. Holds its tensors. Destroying it without wait() gives the collective up: only a run
/// that fails does that.
class Work {
 public:
  struct Impl;
  explicit Work(std::unique_ptr<Impl> impl);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Waits until the outputs are there. PeerError, when a peer is lost, the deadline passed or calls do not match:
  /// names operation, sequence number, group, elapsed time and the ranks that did not arrive. Call once.
  void wait();

 private:
  std::unique_ptr<Impl> impl_;
};
using WorkPtr = std::unique_ptr<Work>;

/// One rank's view of a group of ranks under one name. Used on the rank's training thread; every rank of a group makes
/// the same calls in the same order, with tensors of the same shapes and dtypes. Calls never record gradients. A group
/// of one rank copies.
class Group {
 public:
  Group(std::string name, std::shared_ptr<Channel> channel);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Position inside the group.
  std::int64_t rank() const;
  std::int64_t size() const;
  /// "fsdp", "world".
  const std::string& name() const { return name_; }
  /// Global ranks, by position.
  const std::vector<std::int64_t>& members() const;

  /// In place. Contiguous.
  WorkPtr all_reduce(const at::Tensor& tensor, Reduce op = Reduce::sum);
  /// out [size * n, ...] from in [n, ...], in order of position; both contiguous.
  WorkPtr all_gather(const at::Tensor& out, const at::Tensor& in);
  /// out [n, ...] from in [size * n, ...]; both contiguous.
  WorkPtr reduce_scatter(const at::Tensor& out, const at::Tensor& in, Reduce op = Reduce::sum);
  /// Rows of dim 0: in_rows[i] go to position i, out_rows[i] come from it.
  WorkPtr all_to_all(const at::Tensor& out, const at::Tensor& in, std::vector<std::int64_t> out_rows,
                     std::vector<std::int64_t> in_rows);
  /// In place, from position `root`.
  WorkPtr broadcast(const at::Tensor& tensor, std::int64_t root);
  WorkPtr send(const at::Tensor& tensor, std::int64_t peer, std::int64_t tag);
  WorkPtr receive(const at::Tensor& tensor, std::int64_t peer, std::int64_t tag);
  /// Returns when every rank of the group has called it.
  void barrier();

  // Differentiable; they return when done. Backward is the matching collective of the gradients.
  /// Sum over the ranks; the gradient is summed too.
  at::Tensor differentiable_all_reduce(const at::Tensor& in);
  /// Joins along dim; the gradient is reduce-scattered along it.
  at::Tensor differentiable_all_gather(const at::Tensor& in, std::int64_t dim);
  /// Sums and keeps this position's part along dim (divisible); the gradient is gathered along it.
  at::Tensor differentiable_reduce_scatter(const at::Tensor& in, std::int64_t dim);
  at::Tensor differentiable_all_to_all(const at::Tensor& in, std::vector<std::int64_t> out_rows,
                                       std::vector<std::int64_t> in_rows);

 private:
  std::string name_;
  std::shared_ptr<Channel> channel_;
};

/// Sums `values` over the ranks of the group, in place. A short word for the small agreements of a step.
void sum_over(Group& group, std::vector<double>& values);
/// Every rank's text, by position.
std::vector<std::string> gather_texts(Group& group, const std::string& text);

}  // namespace titan::comm
